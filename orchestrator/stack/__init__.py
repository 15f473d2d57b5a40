"""The embedded stack: a Redis of our own, one worker, the orchestrator and Flower, all on loopback, in one folder."""
