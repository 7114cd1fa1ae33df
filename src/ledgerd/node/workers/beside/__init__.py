"""Processes that a node runs beside itself and that answer no requests for it: what they do delays no block."""
