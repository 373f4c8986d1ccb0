"""NAN605 batch-norm-of-one."""

from __future__ import annotations

from nanlint.rule import Call, Direction, Facts, Finding, Iterator, Rule, unsafe

TINY = 2
BATCH_NORMS = frozenset(
    {"BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d"}
)
# These see one number of a channel for each sample: nothing else makes up for a batch of one.
PER_SAMPLE = frozenset({"BatchNorm1d", "LazyBatchNorm1d"})
NOT_TRAINING = frozenset(
    {"val", "valid", "validation", "test", "eval", "dev", "infer", "inference", "predict", "query", "gallery"}
)


class BatchNormOfOne(Rule):
    """A BatchNorm is trained on batches with one or two samples.

    ## Why it hurts
    The variance of one sample is 0 and that of two is noise: `BatchNorm1d` refuses a batch of one in the middle of an epoch,
    and running statistics of such batches make evaluation explode. The last batch of a loader is whatever is left over.

    ## Flagged
        norm = nn.BatchNorm1d(16)
        train_loader = torch.utils.data.DataLoader(x, batch_size=32, shuffle=True)
        loss = norm(next(iter(train_loader))).sum()
        loss.backward()

    ## Instead
        norm = nn.BatchNorm1d(16)
        train_loader = torch.utils.data.DataLoader(x, batch_size=32, shuffle=True, drop_last=True)
        loss = norm(next(iter(train_loader))).sum()
        loss.backward()

    ## Silent when
    the file trains nothing or has no BatchNorm of its own (SyncBatchNorm, GroupNorm and LayerNorm do not mind); the loader is one
    for validation, or does not shuffle; `drop_last=True` and a batch above two; the size is not a number in this file; only
    BatchNorm2d and BatchNorm3d are used and the batch is above two; in tests.

    ## Fix
    Unsafe: `drop_last=True` leaves out up to a batch of samples in each epoch. For a batch of one or two there is none.
    """

    code = "NAN605"
    name = "batch-norm-of-one"
    direction = Direction.BOTH
    preview = True
    calls = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})
    beside = BATCH_NORMS

    def check_call(self, call: Call, facts: Facts) -> Iterator[Finding]:
        """Judge one loader in a file that has a BatchNorm and trains."""
        stated = call.arguments.get("batch_size") or call.arguments.get("1")
        size = facts.constant_of(stated)
        if (
            stated is None
            or size is None
            or facts.is_test()
            or facts.has_stars(call)
            or not _feeds_training(call, facts)
        ):
            return
        if size <= TINY:
            message = f"batches of {size:g} give BatchNorm a variance that is 0 or noise"
            yield self.finding(facts.span_of(stated), message)
        elif "drop_last" not in call.arguments and facts.file_mentions(*PER_SAMPLE):
            edit = facts.add_keyword(call, "drop_last", "True")
            fix = unsafe("Leave out the last batch", edit) if edit is not None else None
            message = "the last batch can hold one sample, which BatchNorm1d refuses in training"
            yield self.finding(facts.span_of(call.node), message, fix=fix)


def _feeds_training(call: Call, facts: Facts) -> bool:
    """Whether the loader shuffles, is called nothing else than one for training, and the file trains a BatchNorm."""
    shuffle = call.arguments.get("shuffle")
    if shuffle is None or facts.value_of(shuffle).constant is False or not NOT_TRAINING.isdisjoint(facts.kept_as(call)):
        return False
    return facts.file_mentions(*BATCH_NORMS) and facts.file_mentions("backward", "Trainer", "LightningModule")
