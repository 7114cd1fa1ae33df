"""The node of a test as a process: its program, and its start and end."""
