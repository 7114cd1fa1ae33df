"""What a commit has changed, for copies elsewhere."""
