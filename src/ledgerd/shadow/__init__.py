"""A node beside another, question by question: what differs is recorded, and nothing waits for it."""
