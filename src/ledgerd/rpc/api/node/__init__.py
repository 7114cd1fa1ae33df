"""What a node says of itself, and what it is given."""
