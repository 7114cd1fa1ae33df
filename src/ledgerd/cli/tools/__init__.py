"""Commands beside a node."""
