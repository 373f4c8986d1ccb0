"""Tests for what is not finite: what they ask, catch and decide, and what hides a NaN."""
