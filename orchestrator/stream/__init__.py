"""What a run tells those who watch it, and reading what a language model writes while it writes it.

``derive`` gives the events of a change of the state, ``parser`` and ``actions`` read text and actions out of streamed
JSON. All of it is pure: numbers, times and order are the store's (``tasks.events``), and nothing here waits.
"""
