"""One call, from its JSON to the answer or error."""
