"""The options of a node: what each is, by part; `sections` has all of them."""
