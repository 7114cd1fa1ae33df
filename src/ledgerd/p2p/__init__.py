"""The peer protocol: pure state machines, and a driver that gives them sockets and a clock."""
