"""A local network: several node processes on this machine, for `ledgerd testnet` and for tests."""
