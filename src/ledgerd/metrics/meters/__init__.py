"""What is counted of a process, its requests and its peers, as those call it."""
