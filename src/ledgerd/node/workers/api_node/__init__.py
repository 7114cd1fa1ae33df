"""API nodes: processes that answer from a data directory which another process writes."""
