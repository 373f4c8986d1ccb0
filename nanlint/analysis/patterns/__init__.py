"""Identities of several operations: what a handful of them together compute, however they are written."""
