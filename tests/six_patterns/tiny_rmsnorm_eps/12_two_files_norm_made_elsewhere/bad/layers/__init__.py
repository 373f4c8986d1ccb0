"""Layers."""

from layers.norm import RMSNorm

__all__ = ["RMSNorm"]
