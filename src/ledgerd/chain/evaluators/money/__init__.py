"""What operations do that move tokens and shares."""
