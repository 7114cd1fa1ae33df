"""The node: its configuration, and the wiring and life of everything below."""
