"""Comments that keep findings quiet: where they stand, what they say, what they cover."""
