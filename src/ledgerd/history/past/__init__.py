"""The past of a history that began in the middle of the chain: recorded by a process beside the node, and taken over."""
