"""The fork database, the applied branch (trunk), and the choice between branches."""
