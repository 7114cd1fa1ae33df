"""The past of a history that begins in the middle of the chain: made by a process beside the node, then taken over."""
