"""The mathematics of prediction markets: prices, fills and payouts from plain integers to plain integers.

Knows no ledger: no accounts, no assets, no time of its own. A fault is a `PricingError` with the reference's text.
"""
