"""APIs about what happened."""
