"""What the file of an application declares: tables, handlers, methods, migrations."""
