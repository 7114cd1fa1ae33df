"""The API about prediction markets."""
