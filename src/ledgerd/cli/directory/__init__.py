"""Commands on a data directory."""
