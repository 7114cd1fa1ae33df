"""Transactions of programs: made, tried out, signed by who has to, sent, and followed into the chain."""
