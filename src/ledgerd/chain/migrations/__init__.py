"""Migrations: genesis, and what a hardfork changes in the state when it is applied."""
