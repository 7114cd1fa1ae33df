"""Messages that are no blocks: handshake, addresses, transactions."""
