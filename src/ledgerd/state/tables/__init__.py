"""Tables, their indexes, and the objects in memory."""
