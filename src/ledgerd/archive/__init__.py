"""The past of the chain in sealed files: kept as the chain goes, fetched from others, and proven."""
