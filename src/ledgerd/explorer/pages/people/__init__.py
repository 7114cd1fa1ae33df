"""Pages about accounts."""
