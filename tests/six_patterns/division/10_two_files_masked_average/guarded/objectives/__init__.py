"""Objectives of the forecaster."""
