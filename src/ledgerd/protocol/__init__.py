"""The vocabulary of the ledger: names, assets, keys, authorities, operations, transactions, blocks, parameters."""
