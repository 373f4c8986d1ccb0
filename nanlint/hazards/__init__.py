"""Hazards: operations whose operand can enter a zone in which they break."""
