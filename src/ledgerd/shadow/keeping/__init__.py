"""The files of a shadow: its record, the differences that it found, and what is told of both."""
