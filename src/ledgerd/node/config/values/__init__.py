"""Kinds of values: how the text of an option is read."""
