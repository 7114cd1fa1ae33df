"""The file of a snapshot: written, read, compared."""
