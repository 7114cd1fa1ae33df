"""Rules that several operations and steps share, by what they are about."""
