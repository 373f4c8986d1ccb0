"""What people's names tell about data: whether it is measured or learned, whether a mask marks padding.

A name is the weakest evidence there is. It may make a finding milder or silent; no finding is shown by default for a name
alone.
"""

from __future__ import annotations

SEQUENCES = frozenset(
    {
        "attention", "attn", "key", "src", "source", "tgt", "encoder", "decoder", "text", "caption", "token", "tokens", "input",
        "inputs", "ids", "prompt", "seq", "seqs", "sequence", "sequences", "unmasked", "nonmasked", "support", "patch", "word", "words",
        "char", "chars", "session", "history", "traj", "trajectory", "trajectories", "timestep", "timesteps", "frames", "observed", "batch", "rank", "ranks", "species", "atom", "atoms", "elem", "elements", "node", "nodes", "dummy", "idx", "idxs",
        "indices",
    }
)  # fmt: skip
# Whatever was made from these marks padding, or positions.
LENGTHS = frozenset(
    {
        "padding", "pad", "padded", "nonpad", "length", "lengths", "len", "lens", "ilens", "olens", "seqlen", "seqlens", "eos", "causal",
        "unique", "arange", "quantile", "median", "topk", "argsort",
    }
)  # fmt: skip
# Sequences of one letter: x_mask, y_mask.
LETTERS = frozenset({"x", "y", "z", "h"})
# What is counted into classes or bins adds up to the number of things, of which there are some.
# Numbers that somebody chose, or that are above 0 by what they are: schedules, levels of noise, scales, times.
CHOSEN = frozenset(
    {
        "alpha", "alphas", "beta", "betas", "cumprod", "sigma", "sigmas", "schedule", "eps", "epsilon", "scale", "scales", "scaling", "std",
        "stds", "stddev", "freq", "freqs", "frequencies", "inv", "timestep", "timesteps", "times", "slope", "slopes", "lr", "decay", "cumsum", "rate", "rates", "running", "avg", "correction", "lambda", "const", "constant",
    }
)  # fmt: skip
# What a model is told, or learns from: no gradient passes through it.
STATED = frozenset({"gt", "gts", "label", "labels", "target", "targets", "teacher", "true", "truth"})
BINS = frozenset({"histogram", "histograms", "hist", "onehot", "gauss", "gaussian", "kernel", "window"})
MASKS = frozenset(
    {"mask", "masks", "valid", "positive", "positives", "pos", "fg", "foreground", "visible", "visibility"}
)
# What is all 0 now and then: a silent clip, a black image, an empty map, a target without anything in it.
SIGNALS = frozenset(
    {
        "image", "images", "img", "imgs", "audio", "wav", "wavs", "waveform", "waveforms", "signal", "signals", "depth", "heatmap",
        "heatmaps", "clean", "target", "targets", "speech", "sources", "mix", "mixture", "grad",
        "grads", "gradient", "gradients", "saliency", "attribution", "attributions", "spectrogram", "stft", "magnitude", "volume",
        "actual", "label", "labels", "gt",
    }
)  # fmt: skip
# What is equal for all of a batch now and then.
SCORES = frozenset({"reward", "rewards", "return", "returns", "advantage", "advantages", "fitness", "fitnesses"})
# How long one side of a tensor is.
LENGTHS_OF_SIDES = frozenset(
    {
        "dim",
        "dims",
        "size",
        "num",
        "n",
        "hidden",
        "channels",
        "features",
        "feat",
        "heads",
        "units",
        "width",
        "len",
        "embed",
        "classes",
    }
)
# How large something is.
EXTENTS = frozenset({"size", "sizes", "shape", "shapes", "bytes", "width", "height"})
# What a model makes is not exactly 0 in a whole row.
LEARNED = frozenset(
    {
        "embed", "embeds", "embedding", "embeddings", "emb", "embs", "feat", "feats", "feature", "features", "hidden", "query",
        "queries", "key", "keys", "descriptor", "descriptors", "q", "k", "z", "w", "u", "unnormed", "value", "values", "loss", "losses",
        "histogram", "histograms", "output", "outputs", "projected", "latent", "latents", "logits", "avg", "codebook", "centroids",
        "centers", "utterance", "utterances", "probs", "prob", "prototypes", "prototype", "weight", "weights", "state", "states", "noise", "random",
        "activation", "activations", "residual", "param", "params", "projection", "projections", "eigenvector", "eigenvectors",
    }
)  # fmt: skip
# That of a parameter which nothing reached is 0 everywhere.
GRADIENTS = frozenset({"grad", "grads", "gradient", "gradients"})
RANDOM = frozenset({"rand", "randn", "normal", "uniform", "bernoulli", "noise", "eigh", "eig", "svd"})
# What was looked up in the data occurs there.
OCCURRING = frozenset({"unique", "set", "occurring", "present", "counts"})
# The group that each element belongs to.
MEMBERS = frozenset(
    {"batch", "owner", "owners", "graph", "graphs", "segment", "segments", "group", "groups", "inverse"}
)
# Masks of these leave nothing of an ordinary batch: one without objects, a prompt without an answer.
RARE = frozenset({"positive", "positives", "loss", "response", "completion"})
# Parts of a data set, of which none is empty.
SPLITS = frozenset({"train", "training", "val", "validation", "test", "split"})
ADJACENCIES = frozenset({"adj", "adjacency"})
COUNTED = MASKS | ADJACENCIES
# Words of code that makes every node of a graph its own neighbour.
LOOPS = frozenset({"eye", "fill_diagonal_", "add_self_loops", "add_remaining_self_loops", "add_self_loop"})
PROBABILITIES = frozenset({"prob", "probs", "probability", "probabilities"})
# The largest and the smallest of what was measured; two ends of an interval, as people call them: the upper one and the lower one.
EXTREMES = (("max", "min"), ("maximum", "minimum"), ("maxs", "mins"))
ENDS = (
    *EXTREMES,
    ("high", "low"),
    ("upper", "lower"),
    ("hi", "lo"),
    ("end", "start"),
    ("right", "left"),
    ("far", "near"),
)

# A number of things that some batch has none of, counted elsewhere: num_boxes, n_pos, avg_factor.
NUMBERING = frozenset({"num", "n", "number", "count", "total"})
NUMBERED = frozenset(
    {
        "pos", "positive", "positives", "fg", "foreground", "valid", "box", "boxes", "tokens", "matched", "matches", "masked", "instances",
        "object", "objects", "gts", "triplets", "pairs", "negatives", "neg", "mentions", "spans", "entities",
    }
)  # fmt: skip
SEEN = frozenset({"samples", "examples", "items", "elements", "observations", "labels", "targets", "words"})
# What errors are measured against, any of which may be 0.
DATA = frozenset(
    {"target", "targets", "targs", "targ", "y", "true", "actual", "gt", "label", "labels", "truth", "ground"}
)
MEASURES = frozenset({"norm", "norms", "magnitude", "magnitudes", "energy", "sq", "squared"})
AVERAGED_BY = frozenset({"avg", "factor"})
# The number of neighbours that each node of a graph has.
DEGREES = frozenset({"degree", "degrees", "indegree", "outdegree", "deg"})
# What is 0 for what is infinitely far away, or in the plane of the camera; and what two things hold together that are both empty.
SUMMED, WEIGHED = frozenset({"sum", "total"}), frozenset({"weight", "weights", "mask", "masks"})
# What something is divided by, by its own name.
BELOW = frozenset({"sum", "denom", "denominator", "normalizer", "normaliser"})
DISTANT = frozenset({"disparity", "disparities", "disp", "depth", "depths", "union", "unions"})
SPREADS = frozenset({"std", "stds", "stdev", "stddev"})
WIDTHS, HEIGHTS = frozenset({"w", "ws", "width", "widths"}), frozenset({"h", "hs", "height", "heights"})
# The names that alone tell of a denominator which is 0 at times.
VANISHING = (
    NUMBERED | SEEN | BELOW | DATA | MEASURES | WEIGHED | AVERAGED_BY | DEGREES | DISTANT | SPREADS | HEIGHTS | {"snr"}
)
# How a learning rate, or the horizon of a schedule, is called where something is made with it.
RATES = frozenset({"lr", "learning_rate", "max_lr", "base_lr", "T_max", "total_steps", "num_training_steps", "epochs"})
