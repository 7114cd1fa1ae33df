"""What all conversations share: the peers, the settings, the chain as peers see it."""
