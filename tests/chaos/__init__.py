"""The proof of the promise: a whole installation is killed and frozen at random while it works, and counted afterwards.

``python -m tests.chaos --minutes N --seed S`` prints a verdict table, and exits with 1 on any violation. Nothing here
is imported by other tests but through its command line.
"""
