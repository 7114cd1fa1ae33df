"""The data directory: the origin of its state, opening, import, export, and its files."""
