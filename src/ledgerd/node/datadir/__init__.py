"""The data directory: where a state comes from, opening it, its files."""
