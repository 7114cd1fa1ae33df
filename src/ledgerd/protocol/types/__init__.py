"""The types that operations are made of."""
