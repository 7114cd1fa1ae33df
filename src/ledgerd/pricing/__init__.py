"""The mathematics of prediction markets: prices, fills and payouts from plain integers to plain integers."""
