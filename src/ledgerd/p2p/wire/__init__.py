"""The bytes between peers: frames, messages, endpoints, faults."""
