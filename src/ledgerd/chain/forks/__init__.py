"""Which blocks are the chain: candidates, the applied branch, and the choice between branches."""
