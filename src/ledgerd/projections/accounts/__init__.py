"""What blocks change of accounts: their balances, operation by operation, and all that is printed of them."""
