"""How long a test waits for what happens in real time."""

PATIENCE = 300.0
"""Seconds after which what is waited for will not come. Only a failure takes them: a busy machine delays a process by
tens of seconds, and no test measures how long something took."""
