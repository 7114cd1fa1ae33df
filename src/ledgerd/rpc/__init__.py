"""JSON-RPC over HTTP and WebSocket, through which clients read the state. Writes nothing to the state."""
