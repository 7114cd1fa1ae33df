"""The arguments of `ledgerd wallet`, and how results are printed."""
