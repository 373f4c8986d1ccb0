"""Saved training states: are the values in them finite, and what would a run resume with?

    path -> layout -> read (inert, mapped, never loaded) -> walk -> statistics -> symptoms -> diagnosis -> series

No code of a checkpoint runs here and no class of its author is needed: a pickle is read as data. Only the modules that
look at values import torch.
"""
