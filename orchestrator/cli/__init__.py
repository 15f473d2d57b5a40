"""The command line of the service: one module a noun, each a client of the HTTP API.

Modules here import only what is needed to parse a command; a command imports the rest when it runs.
"""
