"""Pages about what people decide and pay for together."""
