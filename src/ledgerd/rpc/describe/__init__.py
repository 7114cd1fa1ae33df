"""Descriptions of the methods: OpenRPC and JSON schemas."""
