"""What the explorer asks its node: requests of pages, and the head as it moves."""
