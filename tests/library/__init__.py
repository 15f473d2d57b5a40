"""The library on a corpus of ours: documents, questions with the page that answers each, and what was found."""
