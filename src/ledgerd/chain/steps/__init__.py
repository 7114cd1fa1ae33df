"""The steps of a block, a module for each part of the story; their order is in `applying`."""
