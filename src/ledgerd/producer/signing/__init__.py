"""Who signs, and that no slot is signed twice."""
