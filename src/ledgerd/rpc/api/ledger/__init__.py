"""What is asked of one table or two of the state."""
