"""Tables as they are declared: records, indexes, keys."""
