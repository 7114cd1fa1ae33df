"""Work on a whole chain that nobody follows meanwhile: replaying a log, auditing a state."""
