"""From paths to parsed text and back: discovery, reading, parsing, notebooks, writing."""
