"""Consensus: what blocks and transactions do to the state, which branch is the best, and what is irreversible."""
