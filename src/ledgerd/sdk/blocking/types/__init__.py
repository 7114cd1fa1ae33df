"""The types of the blocking client, made of the other one by `make docs`: only type checkers and editors read them."""
