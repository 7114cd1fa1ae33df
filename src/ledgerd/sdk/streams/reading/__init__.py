"""What streams read of nodes: blocks in a row, or those in which something happened to an account."""
