"""Flower on the application of this process' settings; its own options come from ``FLOWER_*`` variables."""

from __future__ import annotations

from tasks.celery_app import app_from_environment


def main() -> None:
    """Run Flower until it is told to stop."""
    app_from_environment().start(["--quiet", "flower"])


if __name__ == "__main__":
    main()
