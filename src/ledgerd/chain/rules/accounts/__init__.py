"""Rules about accounts: names, keys, sales, bandwidth, energy."""
