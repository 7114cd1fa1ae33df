"""What is watched of the running node: whether its chain goes on, and how it stands for whoever looks."""
