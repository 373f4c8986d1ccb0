"""NAN605 batch-norm-of-one."""

from __future__ import annotations

from nanlint.rule import Direction, Finding, Iterator, OpHazard, Rule, every, unsafe, word_set

TINY = 2
LOADERS = ("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader")
TRAINING = word_set("backward Trainer LightningModule")
BATCH_NORMS = word_set("BatchNorm1d BatchNorm2d BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d")
# These see one number of a channel for each sample: nothing else makes up for a batch of one.
PER_SAMPLE = word_set("BatchNorm1d LazyBatchNorm1d")
NOT_TRAINING = word_set("val valid validation test eval dev infer inference predict query gallery")


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

    code, name = "NAN605", "batch-norm-of-one"
    direction = Direction.BOTH
    preview = True
    hazards = tuple(every(loader, operand) for loader in LOADERS for operand in ("batch_size", "1"))
    beside = BATCH_NORMS

    def check(self, hazard: OpHazard) -> Iterator[Finding]:
        """Judge one loader in a file that has a BatchNorm and trains."""
        size = hazard.operand.value.number
        if size is None or hazard.is_in_test or not hazard.is_spelled_out or not _feeds_training(hazard):
            return
        fix, place = None, hazard.operand.span
        if size <= TINY:
            message = f"batches of {size:g} give BatchNorm a variance that is 0 or noise"
        elif "drop_last" not in hazard.op.operands and not PER_SAMPLE.isdisjoint(hazard.file_names):
            message, place = "the last batch can hold one sample, which BatchNorm1d refuses in training", hazard.span
            edit = hazard.with_keyword("drop_last", "True")
            fix = unsafe("Leave out the last batch", edit)
        else:
            return
        yield self.told(hazard, message, at=place, fix=fix)


def _feeds_training(hazard: OpHazard) -> bool:
    """Whether the loader shuffles, is called nothing else than one for training, and the file trains a BatchNorm."""
    shuffle = hazard.op.operands.get("shuffle")
    if shuffle is None or shuffle.constant is False or not NOT_TRAINING.isdisjoint(hazard.kept_as):
        return False
    return not (BATCH_NORMS.isdisjoint(hazard.file_names) or TRAINING.isdisjoint(hazard.file_names))
