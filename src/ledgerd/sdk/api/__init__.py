"""The methods of nodes, a class for each API, and their answers as records: generated from their description."""
