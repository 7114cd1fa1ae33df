"""How a node is asked by those who know it by its answers alone: its address, and the envelope of JSON-RPC."""
