"""The programs that the Python engines run, each in a process of its own (``python -m``), knowing its folder only.

They import ``tasks`` for the shapes that they write, and nothing of the worker's supervision.
"""
