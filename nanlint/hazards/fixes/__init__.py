"""The texts that fixes of hazards write."""
