"""What the families of this API have in common: cards of markets, orders, and what is remembered between requests."""
