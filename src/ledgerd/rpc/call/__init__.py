"""One call: from its JSON to its answer or its error."""
