"""The pages: what each asks for, and how it is drawn."""
