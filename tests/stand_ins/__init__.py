"""Small programs that behave as those do that cannot be had here; each says which manual it follows."""
