"""A window on the chain for people: pages made from what a node answers, in their language."""
