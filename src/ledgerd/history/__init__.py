"""The history: operations by block and by account, from the chain's events, in a store of their own."""
