"""Which operations concern whom, and which of them are wanted."""
