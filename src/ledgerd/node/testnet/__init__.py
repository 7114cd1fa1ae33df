"""A network of nodes of one's own on this machine, each a process: for tests, and for whoever wants to see one."""
