"""Comparing what two nodes say of the chain, over JSON-RPC."""
