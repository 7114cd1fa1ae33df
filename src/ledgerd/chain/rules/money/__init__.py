"""Rules about money: balances, vesting, rewards."""
