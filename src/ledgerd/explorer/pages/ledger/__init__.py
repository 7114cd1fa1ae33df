"""Pages about the chain itself: its front, blocks, transactions, and the search."""
