"""Private keys: an encrypted file, and the one process that holds them while the wallet is unlocked."""
