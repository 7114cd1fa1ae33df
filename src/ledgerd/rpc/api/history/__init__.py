"""How the history is filtered, paged and streamed."""
