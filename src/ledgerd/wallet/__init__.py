"""The wallet: keys under a password, and transactions of people and scripts. It knows a node by JSON-RPC only."""
