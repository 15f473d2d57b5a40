"""Services elsewhere that a run may ask, as small servers that answer from scripts: a language model, a web search."""
