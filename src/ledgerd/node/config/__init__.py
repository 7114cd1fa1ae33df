"""The configuration: from the command line, the environment and files to one record."""
