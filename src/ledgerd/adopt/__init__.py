"""Moving in from `vizd`: its data directory is read, and never changed."""
