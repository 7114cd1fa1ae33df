"""From nodes to tables: blocks as they come, at full speed over the past, and over forks."""
