"""What is measured, and how: each `bench_*.py` measures one thing and prints its figures."""
