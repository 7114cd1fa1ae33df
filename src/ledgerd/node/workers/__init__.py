"""Child processes: API workers and key recovery."""
