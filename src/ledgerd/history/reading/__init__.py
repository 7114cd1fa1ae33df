"""How the history is asked."""
