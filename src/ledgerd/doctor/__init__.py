"""What is wrong with a node and how to right it: one module for each family of checks."""
