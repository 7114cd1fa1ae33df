"""What clients ask of the main process: their broadcasts, and transactions to be tried out."""
