"""The history in PostgreSQL: its schema, what feeds it beside a node, and what reads it for the APIs."""
