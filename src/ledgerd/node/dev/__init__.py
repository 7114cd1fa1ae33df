"""The development chain of `ledgerd dev`."""
