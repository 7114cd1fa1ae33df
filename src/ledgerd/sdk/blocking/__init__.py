"""The client for programs that wait: derived from the other one when it runs, and declared for type checkers."""
