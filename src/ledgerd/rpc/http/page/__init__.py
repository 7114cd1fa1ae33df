"""The page for a person: one file, without anything from another address, and the policy that holds it to that."""
