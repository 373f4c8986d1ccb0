"""Lowered to 1e-4 after the loss turned NaN at epoch 29; the run before had 5e-4."""

MODEL_TYPE = "restran_mhc"
LEARNING_RATE = 1e-4
BATCH_SIZE = 32
GRAD_CLIP = 1.0
MHC_N = 2
EPOCHS = 80
STEPS_PER_EPOCH = 4
RESULTS = "results"
