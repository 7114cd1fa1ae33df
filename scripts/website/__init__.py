"""The site that `make site` makes of the documents: its navigation, and what it tells Sphinx."""
