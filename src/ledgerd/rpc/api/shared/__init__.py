"""Records and rules that several APIs share."""
