"""What operations on accounts do."""
