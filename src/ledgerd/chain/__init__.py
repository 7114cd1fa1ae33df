"""The law: what blocks and transactions do to the state, which branch wins, and what is irreversible."""
