"""A chain for tests: fixtures of pytest."""
