"""The time of the network, by the machine and by time servers."""
