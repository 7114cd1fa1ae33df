"""What is typed after each command."""
