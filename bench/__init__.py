"""Benchmarks: each `bench_*.py` measures one thing and prints its figures."""
