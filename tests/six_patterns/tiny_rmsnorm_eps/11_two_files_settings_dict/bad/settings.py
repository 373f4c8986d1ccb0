"""Settings of the run."""

MODEL = {
    "width": 8,
    "depth": 4,
    "rms_norm_eps": 1e-25,  # expect: NAN204|NAN603
}

OPTIMIZER = {"lr": 3e-4, "weight_decay": 0.1}
