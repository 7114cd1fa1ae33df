"""Which clients have a place, and how often each address may ask."""
