"""Keys of accounts: from texts and passwords, held together, for signatures and memos."""
