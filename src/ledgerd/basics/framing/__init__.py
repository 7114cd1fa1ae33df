"""Frames on our own sockets and pipes, and connections whose bytes are frames."""
