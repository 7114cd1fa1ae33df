"""What is said in pages: the texts of each language, amounts and times, and operations as sentences."""
