"""Compute hosts: claim jobs, hold their leases, run engines under a warden. Never imports ``orchestrator``."""
