"""The conformance kit: what was recorded of reference nodes, asked of another node or library."""
