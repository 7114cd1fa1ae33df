"""What the node keeps and tells of what has happened: histories, the archive, events for programs."""
