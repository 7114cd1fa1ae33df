"""What is undone or kept as one."""
