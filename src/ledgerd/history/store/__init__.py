"""The tables of the history in its file."""
