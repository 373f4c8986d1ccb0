"""What training configs state, in config files and in Python: settings by key, and which of them belong to one run."""
