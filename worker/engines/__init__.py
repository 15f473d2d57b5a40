"""The engines: one file each, behind the one interface of ``base``."""
