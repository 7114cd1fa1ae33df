"""Where the parts of a node are looked at for metrics: what they count, what is read off them, and the endpoint."""
