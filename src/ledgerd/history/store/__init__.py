"""The history in files of its own beside the state."""
