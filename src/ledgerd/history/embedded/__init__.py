"""The history in a file beside the state: written, read, checked."""
