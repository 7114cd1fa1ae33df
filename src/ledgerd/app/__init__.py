"""Applications: tables of their own that follow the chain, and methods over them."""
