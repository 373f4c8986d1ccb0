"""Evidence: the reasons why a finding is more or less likely to happen and to matter, and the level they add up to."""
