"""The signer: a process that holds a validator's key, and signs block headers by a rule of its own."""
