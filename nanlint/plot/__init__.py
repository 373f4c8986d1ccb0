"""Logs of runs as pictures: reads JSONL, draws SVG. Needs neither torch nor anything else."""
