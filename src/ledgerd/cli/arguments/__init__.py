"""What is typed behind each command."""
