"""What several commands do: a data directory opened, progress shown."""
