"""What an application answers: its methods as JSON, its metrics, its state. Nothing here changes a table."""
