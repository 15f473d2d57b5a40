"""Recovery: what the orchestrator does when a step has failed beyond its engine's own corrections.

Classify, recall, choose, execute, validate, record, and at the end of it ask a person. Everything that decides is pure
and runs apart; ``node`` alone talks to the store. Agents know nothing of it: they see the jobs of a round with repaired
ones in place of those that failed. No program's files, no second plan, and no action outside of the allow-list.
"""
