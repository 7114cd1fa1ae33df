"""What the folders above share: peers, settings, and the chain as peers see it."""
