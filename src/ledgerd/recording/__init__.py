"""Recording new facts: scenarios that are played on a private network of any node, and what it answered."""
