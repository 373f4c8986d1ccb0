"""What the syntax tree of a file says without any analysis: its chunks, words, names, imports, and what nothing reads any more."""
