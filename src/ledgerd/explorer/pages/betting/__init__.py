"""Pages about prediction markets."""
