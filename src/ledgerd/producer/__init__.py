"""Block production: whether this moment's block is ours to make, and what must be true before it leaves."""
