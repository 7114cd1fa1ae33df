"""What operations of prediction markets do."""
