"""What the history has kept, as rows of tables: for PostgreSQL and for Parquet files."""
