"""Commands typed one after the other at a terminal, with completion and a history."""
