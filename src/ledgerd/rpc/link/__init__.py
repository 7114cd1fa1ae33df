"""The link between an API worker and the main process."""
