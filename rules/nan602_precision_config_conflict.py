"""NAN602 precision-config-conflict."""

from __future__ import annotations

from nanlint.rule import Config, Direction, Finding, Iterator, Label, Rule, Setting, show, word_set

FORMATS = {
    **dict.fromkeys(word_set("fp16 float16 half 16 16-mixed 16-true fp16-mixed f16"), "float16"),
    **dict.fromkeys(word_set("bf16 bfloat16 bf16-mixed bf16-true bfloat16-mixed"), "bfloat16"),
    **dict.fromkeys(word_set("fp32 float32 32 32-true no"), "float32"),
}
FP16 = word_set("fp16 use_fp16 enable_fp16")
BF16 = word_set("bf16 use_bf16 enable_bf16")
AMP = word_set("amp use_amp enable_amp")
MIXED = word_set("mixed_precision precision amp_dtype autocast_dtype mixed_precision_dtype")
# Of the weights: float32 weights go with either half format.
WEIGHTS = word_set("dtype torch_dtype model_dtype param_dtype")
# Beside these it is a list of what a device can do, or `fp16` is short for mixed precision.
CAPABILITIES = word_set("fp32 fp64 fp8 fp4 int8 int4 fp16_bfloat16")
HALVES = "float16 overflows above 65504 and needs a gradient scaler, bfloat16 does neither"
SCALERS = word_set("grad_scaler use_grad_scaler enable_grad_scaler use_scaler grad_scaling")


class PrecisionConfigConflict(Rule):
    """Two settings of one run name different number formats, or none that is meant.

    ## Why it hurts
    One of them wins in silence. Under `float16` every value above 65504 is inf and a gradient scaler is needed, under
    `bfloat16` neither; a run that was tuned for one and gets the other overflows, or is scaled for nothing. The same
    holds for a launcher's config (`accelerate launch`) beside a trainer's: the fifth of the field notes, and for an `autocast()` without a
    `dtype`, which is float16 on CUDA, beside the default of an argument `--dtype`.

    ## Flagged
        args = TrainingArguments(output_dir="out", fp16=True, bf16=True)

    ## Instead
        args = TrainingArguments(output_dir="out", bf16=True)

    ## Silent when
    a value is `auto`, computed, or taken from elsewhere; the two stand in sections of different runs; weights are kept in
    float32 beside a half format, which is what mixed precision means; a launcher says `no` and leaves it to the trainer, or
    several launchers or trainers lie side by side, so that the user chooses at the start. `amp` on with `fp16` off is flagged
    only if nothing beside it names another format. Also in tests, and in lists of what a device can do.

    ## Fix
    Sketch: which of the two is meant, nobody but you can tell.
    """

    code = "NAN602"
    name = "precision-config-conflict"
    direction = Direction.LOOP
    dtypes = ("float16", "bfloat16")
    settings = FP16 | BF16 | AMP | MIXED | WEIGHTS | SCALERS

    def check_setting(self, setting: Setting, config: Config) -> Iterator[Finding]:
        """Judge one setting against those above it, and a launcher's against the trainer's."""
        if config.beside(setting, *CAPABILITIES):
            return
        beside = config.beside(setting, *self.settings)
        above = [other for other in beside if other.span.line <= setting.span.line and _precedes(other, setting)]
        other = next((other for other in above if _contradict(setting, other)), None)
        if other is not None:
            yield self._conflict(setting, other)
        elif setting.key in AMP and setting.is_on and not any(_says_more(each) for each in beside):
            off = next((each for each in beside if each.key in FP16 and each.is_off), None)
            if off is not None:
                message = f"`{setting.quote(25)}` beside `{off.quote(25)}` on {off.place} leaves the half format open"
                labels = (Label(off.span, "float16 is switched off here"),)
                why = f"`{setting.name}` alone does not say which format is meant: {HALVES}."
                fix = show("Name the format: fp16 or bf16")
                yield self.finding(setting.span, message, fix=fix, labels=labels, why=why)
        elif setting.key == "mixed_precision" and (trainer := _disagreeing(setting, config)) is not None:
            yield self._conflict(setting, trainer)

    def _conflict(self, setting: Setting, other: Setting) -> Finding:
        is_scaled = _scales(setting) or _scales(other)
        what = ": bfloat16 needs no scaler" if is_scaled else ""
        place = f"in {other.place[-35:]}" if other.file else f"on {other.place}{what}"
        message = f"`{setting.quote(30)}` conflicts with `{other.quote(30)}` {place}"
        labels = (Label(other.span, "the other setting"),) if not other.file else ()
        why = f"One of the two wins without a word: {HALVES}, so a run that was tuned for one breaks with the other."
        why = "bfloat16 has the range of float32, so there is nothing to scale." if is_scaled else why
        return self.finding(setting.span, message, fix=show("Keep one of the two"), labels=labels, why=why)


def _precedes(other: Setting, setting: Setting) -> bool:
    return (other.span.line, other.span.column) < (setting.span.line, setting.span.column)


def _format_of(setting: Setting) -> str:
    """The format that the setting asks for; empty if it asks for none."""
    if setting.key in FP16:
        return "float16" if setting.is_on else ""
    if setting.key in BF16:
        return "bfloat16" if setting.is_on else ""
    return FORMATS.get(setting.word.removeprefix("torch."), "") if setting.key in MIXED | WEIGHTS else ""


def _says_more(setting: Setting) -> bool:
    """Whether the setting names a format, or may: what is interpolated is anybody's guess."""
    return bool(_format_of(setting)) or (setting.key in MIXED | BF16 and not setting.is_off)


def _scales(setting: Setting) -> bool:
    return setting.key in SCALERS and setting.is_on


def _contradict(first: Setting, second: Setting) -> bool:
    formats = {_format_of(first), _format_of(second)}
    if _scales(first) or _scales(second):
        return "bfloat16" in formats and not {first.key, second.key} <= SCALERS
    if "" in formats or len(formats) == 1:
        return False
    weights = {first.key, second.key} & WEIGHTS
    # Elsewhere it may be the dtype of another model; and two of weights are of two models.
    if weights and (first.path[:-1] != second.path[:-1] or {first.key, second.key} <= WEIGHTS):
        return False
    plain = first if _format_of(first) == "float32" else second
    # Weights in float32, and a part of the model that computes in it, go with mixed precision.
    return "float32" not in formats or (plain.key == "mixed_precision" and not weights)


def _disagreeing(setting: Setting, config: Config) -> Setting | None:
    """The setting of a trainer config that asks for another format than its launcher does."""
    asked = _format_of(setting)
    stated = [other for other in config.company if other.key not in WEIGHTS and _format_of(other)]
    switched_off = [other for other in config.company if other.key in AMP and other.is_off]
    if asked not in {"float16", "bfloat16"} or len({_format_of(other) for other in stated}) > 1:
        return None
    others = [other for other in stated if _format_of(other) != asked]
    return next(iter(others or ([] if stated else switched_off)), None)
