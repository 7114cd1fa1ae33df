"""Work on a whole chain while no node runs on it: replay of a log, audit of a state."""
