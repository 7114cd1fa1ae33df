"""Block production: whether the current slot is ours, and what must hold before a block is sent."""
