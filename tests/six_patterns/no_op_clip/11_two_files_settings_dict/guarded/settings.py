"""Settings of the run, by section."""

SETTINGS = {
    "data": {"batch_size": 64, "workers": 4},
    "optim": {
        "lr": 1.0,
        "momentum": 0.0,
        "clip_norm": 1.0,
    },
}
