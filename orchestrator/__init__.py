"""The service: graph, agents, planning, waking, HTTP API, command line. Never imports ``worker``."""
