"""What people's names suggest: the only place with lists of such words.

A name is the weakest evidence there is. It may make a finding milder; no finding is shown by default for a name alone.
"""

from __future__ import annotations

import re
from functools import lru_cache

from nanlint.word_sets import word_set

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@lru_cache(maxsize=4096)
def words_in(name: str) -> frozenset[str]:
    """The words of a name: `top_k_weights` has three."""
    return frozenset(word.lower() for word in _WORD.findall(name))


# Names of data: whether it is measured or learned, whether a mask marks padding.

# What a model is told, or learns from: no gradient passes through it.
STATED = word_set("gt gts label labels target targets teacher true truth")
MASKS = word_set("mask masks valid positive positives pos fg foreground visible visibility")
# What is equal for all of a batch now and then.
SCORES = word_set("reward rewards return returns advantage advantages fitness fitnesses")
# How long one side of a tensor is.
LENGTHS_OF_SIDES = word_set("dim dims size num n hidden channels features feat heads units width len embed classes")
# One for each sample.
ADVANTAGES = word_set("adv advs gae")
# That of a parameter which nothing reached is 0 everywhere.
GRADIENTS = word_set("grad grads gradient gradients")

# A number of things that some batch has none of, counted elsewhere: num_boxes, n_pos, avg_factor.
NUMBERING = word_set("num n number count total")
NUMBERED = word_set("""
    pos positive positives fg foreground valid box boxes tokens matched matches masked instances object objects gts masks
    triplets pairs negatives neg mentions spans entities
""")
SEEN = word_set("samples examples items elements observations labels targets words")
# How a learning rate, or the horizon of a schedule, is called where something is made with it.
RATES = word_set("lr learning_rate max_lr base_lr T_max total_steps epochs")

TEMPERATURES = word_set("temperature temp tau")
# What logits are divided by.

KEYS, VALUES = word_set("k key keys"), word_set("v value values")
# Weights of a layer, which are summed up over its channels.
PROJECTIONS = word_set("weight proj")
MASKING = word_set("mask masks masked pad padding invalid keep")
# What says where something is masked.

ATTENTION_SCORES = word_set("""
    attn attention att score scores logits dots sim sims similarity energy energies qk alignment weights wei affinity
""")
# What a softmax is taken of.
# Names of functions and classes: whether a backward passes through them.
NOT_TRAINED = word_set("""
    metric metrics scheduler sampler sampling sample processor preprocess processing extractor dataset datasets augment
    augmentation augmentations evaluate evaluation evaluator eval diagnostics env planner planning optimizer plot
    visualize corrector collator collate pipeline detect detector init initialize reset stats statistics callback
    monitor score scores benchmark convert export calibrate calibration generate translate decode search fit suppression
    nms quantize prune pruning inference predict infer logging summary report load save test tests check update compute
    running tokenizer postprocess solver solve refine transform transforms audio loudness window extract extraction
    kmeans cluster clustering knn neighbor neighbors neighbour neighbours nearest retrieval match matching assigner
    candidates measure masker anomaly box boxes bbox bboxes clipped clipping bucket binning bucketize enhancement
    denoise rotary rope pretrained fbank spectrogram stft
""")
TRAINED = word_set("""
    module loss losses model layer net network encoder decoder block pooling kernel criterion attention transformer
    embedding head policy actor critic backbone flow likelihood
""")
TRAINED_FUNCTIONS = word_set("""
    loss losses penalty regularize regularization divergence kl entropy forward training train nll prob objective cdist
""")
INFERENCE = word_set("translate tracker generate generation inference infer predict predictor decode")
SHOWN_OR_TESTED = ("test_", "plot", "draw_", "print_", "visualize", "visualise", "imshow")
DISTANCES = word_set("distance distances dist similarity norm")
PICKING = ("topk", "argmin", "argsort", "kthvalue")
LOSSES = word_set("loss losses criterion")
BUILDING = ("init", "reset_parameters", "glorot", "xavier", "kaiming")
# What people call the settings of a run.
CONFIGS = word_set("args config cfg opt hparams hp params flags FLAGS conf settings h training_args")
# How the bound of a clip is called.
CLIP_BOUNDS = word_set("norm clip max")
# What a comment says beside a call that clips nothing and is not meant to.
MEASURING = r"measur|monitor|\blog|track|record|comput|report|\b(no|not|never|without|n't) (actual(ly)? )?clip|disabl"
# What a log line is written with.
LOGGERS = word_set("logger log logging wandb writer pbar tqdm warnings console tb metrics")
# A helper that looks for what is not finite.
CHECKING = word_set("finite isfinite nan isnan inf isinf overflow")
# Their mean has NaN in the place of what is missing.
AROUND_NAN = word_set("nanmean nansum nanmedian nanstd nanmax nanmin")
# What a model gives.
PREDICTIONS = word_set("pred preds prediction predictions activation activations")
# Elements of what is masked so count for nothing.
MASKED = word_set("mask masks masked missing observed")
# A setting that is called `replace_nan` is for whoever asks for it.
REPLACING = word_set("replace fill remove ignore convert sanitize mask")
# How people call the loss of a run, or a part of it.
WHOLE_LOSSES = frozenset(
    {
        "loss",
        "losses",
        *(
            f"{kind}_loss"
            for kind in (
                "total",
                "train",
                "text",
                "latent",
                "recon",
                "rec",
                "kl",
                "mse",
                "ce",
                "l1",
                "aux",
                "policy",
                "value",
                "simple",
            )
        ),
    }
)
# A mask that hides what comes later, and never a position from itself.
CAUSAL = word_set("causal future subsequent triu tril diagonal autoregressive")
# Code that trains, or looks at what does.
TRAINING_WORDS = word_set("backward grad parameters optimizer clip_grad_norm_ clip_grad_norm")

# In a training loop: what its parts are called, where it cannot be told how they are made.
OPTIMIZERS = word_set("optimizer optim opt optimizers optims optimiser solver")
SCHEDULERS = word_set("scheduler sched schedulers lrscheduler schedule lrs")
SCALERS = word_set("scaler gradscaler")
FRAMEWORKS = word_set("accelerator fabric engine strategy")
MODELS = word_set("model net network module generator discriminator actor critic policy")
AVERAGES = word_set("ema swa polyak averaged")
SAVED = word_set("checkpoint checkpoints model state ckpt pretrained weights networks training")
# What they are called says nothing of what is in them under a key.
CARRIERS = word_set("batch inputs sample")
# What functions do: set gradients, bring together what several processes have, build or load a model and run none.
SETTING = word_set("assign set write overwrite put unflatten restore replace")
REDUCING = word_set("reduce reduced gather allreduce allgather reducer broadcast")
NO_FORWARD = word_set("update load set get build make create init")
STOPPING = r"exit|abort|raise|stop|fail|restore|load|reset|rollback|handle|recover|terminate|on_nan|reinit"
# A flag or a helper that is true for what is not finite, and for what is.
FOR_BAD = word_set("nan nans isnan inf isinf overflow overflows nonfinite diverged infinite")
FOR_GOOD = word_set("finite isfinite")
# What a check is about. `f0_norm` and `weight_norm` are no norms of gradients, `loss_weight` is no loss, `loss_meter` a record of them.
OBJECTIVES = word_set("loss losses objective")
PARAMETERS = word_set("param params parameter parameters")
NORMS = word_set("norm norms gnorm gradnorm")
NORMS_OF = (
    NORMS
    | GRADIENTS
    | PARAMETERS
    | word_set("""
    total global g d clip clipped unclipped model gen disc generator discriminator critic actor policy max inf local l
""")
)
NO_LOSSES = word_set("weight fn func mask scale scaler type layer best lowest min prev last old")
VALIDATION = word_set("best val valid validation eval test")
