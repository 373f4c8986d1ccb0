"""Rules meet files: the rulebook, checking one file and many, suppression, fixes."""
