"""Makes what is released: `scripts/release`."""
