"""What is released, walked through on a fresh Debian: `scripts/walk-release`."""
