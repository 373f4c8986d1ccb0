"""NAN603 risky-config-value."""

from __future__ import annotations

from nanlint.rule import Config, Direction, Finding, Hazard, Item, Iterator, Rule, Setting, items, show, word_set

CLIPS = word_set("""
    clip_grad clip_grad_norm clip_grad_value clip_gradient clip_gradients clip_norm grad_clip grad_clip_norm
    grad_clip_val grad_norm_clip gradient_clip gradient_clip_norm gradient_clip_val gradient_clipping max_grad_norm
    max_gradient_norm grad_max_norm
""")
RATES = word_set("lr learning_rate base_lr max_lr peak_lr adam_lr initial_lr init_lr")
OPTIMIZER_EPS = word_set("adam_eps adam_epsilon optimizer_eps optim_eps eps")
NORM_EPS = word_set("rms_norm_eps norm_eps layer_norm_eps layernorm_eps layer_norm_epsilon batch_norm_eps rmsnorm_eps")
# The lowest that are published; 0.04 is that of DINO's teacher.
COLDEST = {"temperature": 0.05, "temp": 0.05, "student_temp": 0.05, "teacher_temp": 0.04, "contrastive_temperature": 0.05, "logit_temp": 0.05}  # fmt: skip
BETAS = word_set("adam_beta1 adam_beta2 betas adam_betas")
WARMUPS = word_set("""
    warmup warmup_steps warmup_updates num_warmup_steps warmup_ratio warmup_epochs lr_warmup_steps warmup_iters
""")
ADAM = word_set("adam adamw nadam radam lamb lion rmsprop")
# Noam and inverse square root multiply the rate by a small factor.
NOT_ADAM = word_set("""
    sgd adadelta adafactor prodigy dadapt dadaptation lbfgs rprop noam noamlr shampoo
""")
SAMPLING = word_set("""
    top_p top_k max_tokens max_new_tokens do_sample num_beams max_length n_samples repetition_penalty
""")
SAMPLING_SECTION = word_set("sampl gener decod infer rollout val eval test llm chat vllm prompt judge")
TRANSFORMER = word_set("transformer heads bert gpt vit conformer llama")
# TrainingArguments(max_grad_norm=...) and Trainer(gradient_clip_val=...) are judged by NAN401.
JUDGED_AT_THE_CALL = word_set("Trainer TrainingArguments")


class RiskyConfigValue(Rule):
    """A training setting has a value with which runs break.

    ## Why it hurts
    A clip bound of 1e6 clips nothing; Adam with an `eps` of 0 divides 0 by 0 for every weight without a gradient; a rate above 1
    moves each weight by more than 1 in a step; a temperature of 0.01 turns a cosine of 1 into a logit of 100, whose exponential is
    inf; a transformer at full rate from the first step takes its largest steps while Adam's statistics know one batch.

    ## Flagged
        parser.add_argument("--grad-clip", type=float, default=1e6)
        parser.add_argument("--learning_rate", type=float, default=3e-4)

    ## Instead
        parser.add_argument("--grad-clip", type=float, default=1.0)
        parser.add_argument("--learning_rate", type=float, default=3e-4)

    ## Silent when
    the value is computed, interpolated or taken from elsewhere; a rate is not known to be Adam's, or is a factor of a schedule
    (noam); a temperature is one for sampling (beside `top_p`, in a section for generation), or below 1e-3, which is a factor; an
    `eps` of a layer is one that is published (1e-12 and above). A clip bound of 0 or below, which most code takes for "off" and torch for gradients of 0 or uphill,
    is info, and so are one of up to ten times `max-norm`, which some methods publish, a temperature, which does no harm inside a cross entropy, and a warm-up of 0. Set `max-norm` and `max-rate` to other limits.

    ## Fix
    Sketch: a usual value.
    """

    code = "NAN603"
    name = "risky-config-value"
    direction = Direction.LOOP
    yields_to = frozenset({"NAN401"})
    settings = CLIPS | RATES | OPTIMIZER_EPS | NORM_EPS | COLDEST.keys() | BETAS | WARMUPS
    options = {"max-norm": 1e3, "max-rate": 1.0}  # noqa: RUF012 - declared as a ClassVar in Rule

    def check_setting(self, setting: Setting, config: Config) -> Iterator[Finding]:
        """Judge one setting by what its key means."""
        if setting.key in CLIPS:
            yield from self._clip(setting)
        elif setting.key in RATES:
            yield from self._rate(setting, config)
        elif setting.key in OPTIMIZER_EPS | NORM_EPS:
            yield from self._eps(setting, config)
        elif setting.key in COLDEST:
            yield from self._temperature(setting, config)
        elif setting.key in BETAS:
            yield from self._beta(setting)
        else:
            yield from self._warmup(setting, config)

    def _clip(self, setting: Setting) -> Iterator[Finding]:
        bound = setting.number
        if bound is None or setting.owner in JUDGED_AT_THE_CALL:
            return
        most = float(self.option("max-norm"))
        if bound >= most:
            # Methods of reinforcement learning publish bounds of a thousand, against explosions alone.
            evidence = (items.MILD,) if bound < 10 * most else ()
            yield self._risky(setting, "effectively disables clipping; typical values are 0.1-10", "1.0", *evidence)
        elif bound <= 0:
            reason = "turns gradients uphill" if bound < 0 else "makes every gradient 0"
            yield self._risky(setting, f"{reason} where it is not taken for off", "1.0", items.DECIDED_ELSEWHERE)

    def _rate(self, setting: Setting, config: Config) -> Iterator[Finding]:
        rate = max(setting.numbers, default=setting.number)
        if rate is None or rate <= float(self.option("max-rate")) or config.mentions(*NOT_ADAM):
            return
        if config.mentions(*ADAM):
            yield self._risky(setting, "moves each weight by more than 1 in a step of Adam", "1e-3 or below")

    def _eps(self, setting: Setting, config: Config) -> Iterator[Finding]:
        eps = setting.number
        if eps is None or eps < 0 or (setting.key == "eps" and not config.beside(setting, *RATES, "betas")):
            return
        if setting.key in OPTIMIZER_EPS and eps < 1e-45:
            yield self._risky(setting, "makes Adam divide 0 by 0 where a gradient is 0", "1e-8")
        elif setting.key in NORM_EPS and eps < 1e-12:
            yield self._risky(setting, "is no floor: the gradient of a constant row is above 1e6", "1e-6")

    def _temperature(self, setting: Setting, config: Config) -> Iterator[Finding]:
        temperature, section = setting.number, " ".join((*setting.path[:-1], setting.owner.lower()))
        if temperature is None or not 1e-3 <= temperature < COLDEST[setting.key] or config.beside(setting, *SAMPLING):
            return
        if not any(word in section for word in SAMPLING_SECTION):
            harm = f"turns a cosine of 1 into a logit of {1 / temperature:.0f}"
            yield self._risky(setting, harm, "0.07", items.RARE)

    def _beta(self, setting: Setting) -> Iterator[Finding]:
        values = setting.numbers or (() if setting.number is None else (setting.number,))
        if len(values) <= 2 and any(value >= 1 for value in values):
            yield self._risky(setting, "never forgets a gradient, and torch refuses it", "0.9 and 0.999")

    def _warmup(self, setting: Setting, config: Config) -> Iterator[Finding]:
        rate = config.number_beside(setting, *RATES)
        if setting.number != 0 or rate is None or rate < 1e-3 or config.mentions(*NOT_ADAM):
            return
        if not config.beside(setting, *WARMUPS) and config.mentions(*TRANSFORMER):
            harm = f"takes a transformer to the full rate of {rate:g} in its first step"
            yield self._risky(setting, harm, "2000 steps", items.RARE)

    def _risky(self, setting: Setting, harm: str, usual: str, *evidence: Item) -> Finding:
        fix = show(f"A usual value is {usual}")
        hazard = Hazard("setting", setting.name, harm)
        message = f"`{setting.quote(32)}` {harm}"
        return self.finding(setting.span, message, fix=fix, hazard=hazard, evidence=evidence)
