"""What peers tell each other besides blocks: greetings, addresses, transactions."""
