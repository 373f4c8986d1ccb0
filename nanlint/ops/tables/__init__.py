"""The op table as text: each operation with its parameters and spellings, and its danger zones."""
