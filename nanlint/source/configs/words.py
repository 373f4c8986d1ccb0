"""Whether a file may be a training config at all: asked of every file, so it costs next to nothing.

A repository holds thousands of YAML and JSON files that are none: workflows, manifests, tokenizers, test data. Size and
a few words tell them apart before anything is parsed. Too generous at worst: what is no setting is found by no rule.
"""

from __future__ import annotations

import re
from functools import cache

from nanlint.word_sets import word_set

# The largest config known to us has 40 kB; a tokenizer has megabytes.
LARGEST_CONFIG = 512_000

# Files of other tools, in every second folder of some repositories.
_SOMETHING_ELSE = word_set("""
    .pre-commit-config.yaml Cargo.toml composer.json mkdocs.yml nanlint.toml package-lock.json package.json poetry.toml
    pyproject.toml ruff.toml settings.json special_tokens_map.json tokenizer.json tokenizer_config.json tsconfig.json
    vocab.json
""")

# Python code without one of these states nothing that a rule about settings reads. Searched one by one: that is
# faster than a regular expression, and each costs half a per cent of a run.
_STATED_IN_CODE = (
    b"learning_rate", b"fp16", b"mixed_precision", b"grad_clip", b"clip_grad", b"max_grad_norm", b"--lr", b"base_lr",
)  # fmt: skip

_TRAINING_KEY = (
    rb"(?<![a-z0-9])(?P<key>(?:base_|max_|peak_|adam_)?lr(?:_scheduler)?|learning[_-]?rate|optim(?:izer)?|batch[_-]size|train_batch_size"
    rb"|(?:num_|max_)?(?:train_)?(?:epochs?|updates?|steps)|weight[_-]decay|warmup[_a-z]*|(?:grad(?:ient)?_)?clip(?:_grad)?(?:_norm|_val(?:ue)?)?|max_grad_norm"
    rb"|fp16|bf16|mixed_precision|use_amp|amp|precision|gradient_accumulation_steps|accumulate_grad_batches|per_device_train_batch_size"
    rb"|temperature|(?:student|teacher)_temp|dropout|betas?|eps|adam_eps(?:ilon)?|distributed_type|compute_environment|zero_optimization|trainer)"
    rb"[\"']?\s*[:=]"
)
_FOR_TRAINING = frozenset(
    {
        b"lr", b"base_lr", b"max_lr", b"peak_lr", b"adam_lr", b"learning_rate", b"learning-rate", b"learningrate", b"optimizer", b"optim",
        b"fp16", b"bf16", b"mixed_precision", b"use_amp", b"amp", b"max_grad_norm", b"grad_clip", b"clip_grad_norm", b"gradient_clip_val",
        b"clip_norm", b"clip_grad", b"gradient_clip", b"grad_clip_norm",
    }
)  # fmt: skip


@cache
def _training_key() -> re.Pattern[bytes]:
    """Compiled when the first config file is met: most runs meet none, and compiling takes longer than they do."""
    return re.compile(_TRAINING_KEY)


def is_something_else(path: str, size: int) -> bool:
    """Whether name or size tell that a file is no training config, so that nobody need open it."""
    return size > LARGEST_CONFIG or path[path.rfind("/") + 1 :] in _SOMETHING_ELSE or ".github/" in path


def is_training_config(data: bytes) -> bool:
    """Whether the bytes of a config file speak of training: one key of an optimizer or a precision, and one more."""
    if len(data) > LARGEST_CONFIG:
        return False
    found: set[bytes] = set()
    for match in _training_key().finditer(data.lower()):
        found.add(match["key"])
        if len(found) > 1 and not found.isdisjoint(_FOR_TRAINING):
            return True
    return False


def states_settings(data: bytes, *, is_torch: bool) -> bool:
    """Whether Python code may state settings of a training run; code without torch has to look like a config, too."""
    return speaks_of_settings(data) and (is_torch or is_training_config(data))


def speaks_of_settings(data: bytes) -> bool:
    """Whether some Python code holds a word of those that rules about settings read."""
    folded = data.lower()
    return any(word in folded for word in _STATED_IN_CODE)
