"""What the wallet knows of a node: JSON-RPC, and reasons not to believe it."""
