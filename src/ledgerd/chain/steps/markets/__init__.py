"""What time does to prediction markets: the sections of the block's market step, a module each (spec 09)."""
