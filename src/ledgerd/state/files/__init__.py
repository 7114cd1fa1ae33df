"""The file of the state, and what is done with it as a whole."""
