"""Kinds of values: numbers, texts, containers, records, variants."""
