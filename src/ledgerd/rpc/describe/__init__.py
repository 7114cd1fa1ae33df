"""The methods described: OpenRPC and JSON schemas."""
