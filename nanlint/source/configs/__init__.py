"""Config files of training runs: which are some, their settings with keys, values and places, and those beside a launcher."""
