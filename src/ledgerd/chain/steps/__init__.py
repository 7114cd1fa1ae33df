"""The steps of a block, a module for each group; their order is in `applying`."""
