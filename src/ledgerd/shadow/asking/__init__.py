"""What is asked of both nodes, and answers that differ until it is known whether they do so for a moment only."""
