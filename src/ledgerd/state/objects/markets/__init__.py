"""Objects of prediction markets."""
