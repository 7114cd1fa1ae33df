"""Keys, signatures, hashes, and the texts they are written as."""
