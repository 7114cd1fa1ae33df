"""What the clients of one worker share, and how much of it each has: time of the event loop."""
