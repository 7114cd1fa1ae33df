"""From a snapshot to a checked state, in a process of its own."""
