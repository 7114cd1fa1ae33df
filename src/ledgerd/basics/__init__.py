"""What rooms on every floor need and none of them owns. It imports nothing of ours."""
