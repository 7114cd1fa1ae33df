"""What the other modules of `p2p` share: peers, settings, rate limits, access to the chain."""
