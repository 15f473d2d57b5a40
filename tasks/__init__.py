"""The contract between orchestrator and workers: specs, records, the Redis store, the Celery application, settings.

Nothing here knows a program's file format, and nothing here imports ``worker`` or ``orchestrator``.
"""

__version__ = "0.1.0"
