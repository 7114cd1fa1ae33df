"""The history as Parquet files, for programs that analyse tables."""
