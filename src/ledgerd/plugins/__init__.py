"""Code of others in a node: more methods, and more observers."""
