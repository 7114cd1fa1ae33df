"""JSON as the network writes and reads it."""
