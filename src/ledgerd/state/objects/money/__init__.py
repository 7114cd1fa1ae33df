"""Where tokens and shares are beside balances."""
