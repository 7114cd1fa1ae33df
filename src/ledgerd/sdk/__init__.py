"""The client for programs: a typed way to read the chain and to send to it, through one node or several."""
