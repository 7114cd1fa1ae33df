"""The past: irreversible blocks in files, and how recorded operations are read."""
