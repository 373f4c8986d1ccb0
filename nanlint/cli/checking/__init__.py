"""The parts of the check command: its options, what it prints, rewrites and asks."""
