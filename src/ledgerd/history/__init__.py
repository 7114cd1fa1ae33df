"""What happened: operations by block and by account, told by the chain's events and kept in a store of their own."""
