"""What a node sends to replicas."""
