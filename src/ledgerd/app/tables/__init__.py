"""The tables of an application in its database: made, changed by blocks, undone, migrated."""
