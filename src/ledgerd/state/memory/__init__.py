"""Objects and index entries in memory, and how they are changed."""
