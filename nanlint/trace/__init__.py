"""Finds where a running training script makes its first NaN or Inf (imports torch)."""
