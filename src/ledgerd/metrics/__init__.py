"""Metrics: what is counted, where the counts lie, and how Prometheus reads them. Knows no state and no rule."""
