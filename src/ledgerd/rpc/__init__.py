"""How the state is read by clients: JSON-RPC over HTTP and WebSocket. Writes nothing to the state."""
