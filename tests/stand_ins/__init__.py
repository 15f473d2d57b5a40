"""Small programs of ours that stand in for what cannot be had here: they imitate a program's process, not its science.

Each is named for what it stands in for. Nothing outside of ``tests`` runs or imports them.
"""
