"""APIs about blocks and for sending transactions."""
