"""APIs about a node itself."""
