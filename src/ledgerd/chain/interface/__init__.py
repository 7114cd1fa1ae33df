"""What others have of a chain: `view` to read it, `observer` to learn what it does."""
