"""HTTP and WebSocket: connections, pages, listeners."""
