"""How a node, or another server, is asked: its address, HTTP, and the envelope of JSON-RPC."""
