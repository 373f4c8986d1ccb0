"""Whole training scripts, run for a few steps on tiny made-up data, with one fault injected from outside."""
