"""From paths to parsed text and back: discovery, reading, the gate, parsing, notebooks, writing."""
