"""Peers: the protocol without I/O, as pure state machines, and a thin driver that gives it sockets and a clock."""
