"""The parts of a run, optimizers, schedulers and scalers: how they are made, saved and restored."""
