"""The spellings of operations that compute: elementwise functions, activations, reductions.

Data alone; `nanlint.ops.names` says how a line is read. One line is one operation:

    canonical(parameters) | method names | further function spellings

The canonical name is the shortest torch spelling. `F.` stands for torch.nn.functional, `special.`, `linalg.`,
`functional.` and a bare word for the torch namespaces. `input|x1` is a parameter we call input and torch calls x1;
after `*,` parameters are keyword-only; ` / ` separates overloads, the usual one first.
"""

ELEMENTWISE = """
torch.abs(input) | abs abs_ absolute absolute_ | abs_ absolute
torch.acos(input) | acos acos_ arccos arccos_ | acos_ arccos arccos_
torch.acosh(input) | acosh acosh_ arccosh arccosh_ | acosh_ arccosh arccosh_
torch.add(input, other, *, alpha=1) | add add_ |
torch.addcdiv(input, tensor1, tensor2, *, value=1) | addcdiv addcdiv_ |
torch.addcmul(input, tensor1, tensor2, *, value=1) | addcmul addcmul_ |
torch.angle(input) | angle |
torch.asin(input) | asin asin_ arcsin arcsin_ | asin_ arcsin arcsin_
torch.asinh(input) | asinh asinh_ arcsinh arcsinh_ | asinh_ arcsinh arcsinh_
torch.atan(input) | atan atan_ arctan arctan_ | atan_ arctan arctan_
torch.atan2(input, other) | atan2 atan2_ arctan2 arctan2_ | arctan2
torch.atanh(input) | atanh atanh_ arctanh arctanh_ | atanh_ arctanh arctanh_
torch.ceil(input) | ceil ceil_ | ceil_
torch.clamp(input, min=None, max=None) | clamp clamp_ clip clip_ | clamp_ clip clip_
torch.clamp_max(input, max) | clamp_max clamp_max_ | clamp_max_
torch.clamp_min(input, min) | clamp_min clamp_min_ | clamp_min_
torch.complex(input|real, imag) | |
torch.conj(input) | conj conj_physical conj_physical_ | conj_physical conj_physical_
torch.copysign(input, other) | copysign copysign_ |
torch.cos(input) | cos cos_ | cos_
torch.cosh(input) | cosh cosh_ | cosh_
torch.deg2rad(input) | deg2rad deg2rad_ | deg2rad_
torch.digamma(input) | digamma digamma_ | special.digamma special.psi
torch.div(input, other, *, rounding_mode=None) | div div_ divide divide_ true_divide true_divide_ | divide true_divide
torch.erf(input) | erf erf_ | erf_ special.erf
torch.erfc(input) | erfc erfc_ | erfc_ special.erfc
torch.erfinv(input) | erfinv erfinv_ | special.erfinv
torch.exp(input) | exp exp_ | exp_
torch.exp2(input) | exp2 exp2_ | exp2_ special.exp2
torch.expm1(input) | expm1 expm1_ | expm1_ special.expm1
torch.fill(input, value) | fill_ | fill_
torch.float_power(input, exponent) | float_power float_power_ |
torch.floor(input) | floor floor_ | floor_
torch.floor_divide(input, other) | floor_divide floor_divide_ |
torch.fmax(input, other) | fmax |
torch.fmin(input, other) | fmin |
torch.fmod(input, other) | fmod fmod_ |
torch.frac(input) | frac frac_ | frac_
torch.frexp(input) | frexp |
torch.heaviside(input, values) | heaviside heaviside_ |
torch.hypot(input, other) | hypot hypot_ |
torch.i0(input) | i0 i0_ | i0_ special.i0
torch.igamma(input, other) | igamma igamma_ | special.gammainc
torch.igammac(input, other) | igammac igammac_ | special.gammaincc
torch.imag(input) | |
torch.ldexp(input, other) | ldexp ldexp_ | ldexp_
torch.lerp(input, end, weight) | lerp lerp_ |
torch.lgamma(input) | lgamma lgamma_ | special.gammaln
torch.log(input) | log log_ | log_
torch.log10(input) | log10 log10_ | log10_
torch.log1p(input) | log1p log1p_ | log1p_ special.log1p
torch.log2(input) | log2 log2_ | log2_
torch.logaddexp(input, other) | logaddexp |
torch.logaddexp2(input, other) | logaddexp2 |
torch.logit(input, eps=None) | logit logit_ | logit_ special.logit
torch.maximum(input, other) | maximum |
torch.minimum(input, other) | minimum |
torch.mul(input, other) | mul mul_ multiply multiply_ | multiply
torch.mvlgamma(input, p) | mvlgamma mvlgamma_ | special.multigammaln
torch.nan_to_num(input, nan=None, posinf=None, neginf=None) | nan_to_num nan_to_num_ | nan_to_num_
torch.neg(input) | neg neg_ negative negative_ | neg_ negative negative_
torch.nextafter(input, other) | nextafter nextafter_ |
torch.polar(input|abs, angle) | |
torch.polygamma(n, input) | polygamma polygamma_ | special.polygamma
torch.positive(input) | positive |
torch.pow(input, exponent) | pow pow_ |
torch.rad2deg(input) | rad2deg rad2deg_ | rad2deg_
torch.real(input) | |
torch.reciprocal(input) | reciprocal reciprocal_ | reciprocal_
torch.remainder(input, other) | remainder remainder_ |
torch.round(input, *, decimals=0) | round round_ | round_ special.round
torch.rsqrt(input) | rsqrt rsqrt_ | rsqrt_
torch.rsub(input, other, *, alpha=1) | |
torch.sgn(input) | sgn sgn_ |
torch.sigmoid(input) | sigmoid sigmoid_ | sigmoid_ F.sigmoid special.expit
torch.sign(input) | sign sign_ |
torch.sin(input) | sin sin_ | sin_
torch.sinc(input) | sinc sinc_ | sinc_ special.sinc
torch.sinh(input) | sinh sinh_ | sinh_
torch.special.bessel_j0(input) | |
torch.special.bessel_j1(input) | |
torch.special.bessel_y0(input) | |
torch.special.bessel_y1(input) | |
torch.special.entr(input) | |
torch.special.erfcx(input) | |
torch.special.i0e(input) | |
torch.special.i1(input) | |
torch.special.i1e(input) | |
torch.special.log_ndtr(input) | |
torch.special.ndtr(input) | |
torch.special.ndtri(input) | |
torch.special.xlog1py(input, other) | |
torch.special.zeta(input, other) | |
torch.sqrt(input) | sqrt sqrt_ | sqrt_
torch.square(input) | square square_ | square_
torch.sub(input, other, *, alpha=1) | sub sub_ subtract subtract_ | subtract
torch.tan(input) | tan tan_ | tan_
torch.tanh(input) | tanh tanh_ | tanh_ F.tanh
torch.trunc(input) | trunc trunc_ fix fix_ | trunc_ fix fix_
torch.xlogy(input, other) | xlogy xlogy_ | xlogy_ special.xlogy
"""

ACTIVATIONS = """
torch.celu(input, alpha=1.0) | | celu_ F.celu F.celu_
torch.hardshrink(input, lambd=0.5) | hardshrink | F.hardshrink
torch.log_softmax(input, dim=None, dtype=None) | log_softmax | F.log_softmax special.log_softmax
torch.nn.functional.elu(input, alpha=1.0, inplace=False) | | F.elu_
torch.nn.functional.gelu(input, *, approximate=none) | |
torch.nn.functional.glu(input, dim=-1) | |
torch.nn.functional.gumbel_softmax(input|logits, tau=1, hard=False, eps=1e-10, dim=-1) | |
torch.nn.functional.hardsigmoid(input, inplace=False) | |
torch.nn.functional.hardswish(input, inplace=False) | |
torch.nn.functional.hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False) | | F.hardtanh_
torch.nn.functional.leaky_relu(input, negative_slope=0.01, inplace=False) | | F.leaky_relu_
torch.nn.functional.logsigmoid(input) | |
torch.nn.functional.mish(input, inplace=False) | |
torch.nn.functional.relu6(input, inplace=False) | |
torch.nn.functional.silu(input, inplace=False) | |
torch.nn.functional.softmin(input, dim=None, dtype=None) | |
torch.nn.functional.softplus(input, beta=1, threshold=20) | |
torch.nn.functional.softshrink(input, lambd=0.5) | |
torch.nn.functional.softsign(input) | |
torch.nn.functional.tanhshrink(input) | |
torch.prelu(input, weight) | prelu | F.prelu
torch.relu(input, inplace=False) | relu relu_ | relu_ F.relu F.relu_
torch.rrelu(input, lower=0.125, upper=0.3333333333333333, training=False) | | rrelu_ F.rrelu F.rrelu_
torch.selu(input, inplace=False) | | selu_ F.selu F.selu_
torch.softmax(input, dim=None, dtype=None) | softmax | F.softmax special.softmax
torch.threshold(input, threshold, value) | | threshold_ F.threshold F.threshold_
"""

REDUCTIONS = """
torch.all(input, dim=None, keepdim=False) | all |
torch.amax(input, dim=None, keepdim=False) | amax |
torch.amin(input, dim=None, keepdim=False) | amin |
torch.aminmax(input, *, dim=None, keepdim=False) | aminmax |
torch.any(input, dim=None, keepdim=False) | any |
torch.argmax(input, dim=None, keepdim=False) | argmax |
torch.argmin(input, dim=None, keepdim=False) | argmin |
torch.argsort(input, dim=-1, descending=False) | argsort |
torch.bincount(input, weights=None, minlength=0) | bincount |
torch.corrcoef(input) | corrcoef |
torch.count_nonzero(input, dim=None) | count_nonzero |
torch.cov(input, *, correction=1, fweights=None, aweights=None) | cov |
torch.cummax(input, dim) | cummax |
torch.cummin(input, dim) | cummin |
torch.cumprod(input, dim, *, dtype=None) | cumprod cumprod_ |
torch.cumsum(input, dim, *, dtype=None) | cumsum cumsum_ |
torch.cumulative_trapezoid(input|y, x, *, dim=-1) | |
torch.diff(input, n=1, dim=-1, prepend=None, append=None) | diff |
torch.histc(input, bins=100, min=0, max=0) | histc |
torch.kthvalue(input, k, dim=-1, keepdim=False) | kthvalue |
torch.linalg.matrix_norm(input|A, ord=fro, dim=(-2,-1), keepdim=False, *, dtype=None) | |
torch.linalg.norm(input|A, ord=None, dim=None, keepdim=False, *, dtype=None) | |
torch.linalg.vector_norm(input|x, ord=2, dim=None, keepdim=False, *, dtype=None) | |
torch.logcumsumexp(input, dim) | logcumsumexp |
torch.logsumexp(input, dim, keepdim=False) | logsumexp | special.logsumexp
torch.max(input, dim=None, keepdim=False / input, other) | max |
torch.mean(input, dim=None, keepdim=False, *, dtype=None) | mean |
torch.median(input, dim=None, keepdim=False) | median |
torch.min(input, dim=None, keepdim=False / input, other) | min |
torch.mode(input, dim=-1, keepdim=False) | mode |
torch.msort(input) | msort |
torch.nanmean(input, dim=None, keepdim=False, *, dtype=None) | nanmean |
torch.nanmedian(input, dim=None, keepdim=False) | nanmedian |
torch.nanquantile(input, q, dim=None, keepdim=False, *, interpolation=linear) | nanquantile |
torch.nansum(input, dim=None, keepdim=False, *, dtype=None) | nansum |
torch.norm(input, p=fro, dim=None, keepdim=False, out=None, dtype=None) | norm | functional.norm
torch.prod(input, dim=None, keepdim=False, *, dtype=None) | prod |
torch.quantile(input, q, dim=None, keepdim=False, *, interpolation=linear) | quantile |
torch.renorm(input, p, dim, maxnorm) | renorm renorm_ |
torch.sort(input, dim=-1, descending=False / input, *, stable, dim=-1, descending=False) | sort |
torch.std(input, dim=None, *, correction=None, keepdim=False / input, dim, unbiased=True, keepdim=False / input, unbiased) | std |
torch.std_mean(input, dim=None, *, correction=None, keepdim=False / input, dim, unbiased=True, keepdim=False / input, unbiased) | |
torch.sum(input, dim=None, keepdim=False, *, dtype=None) | sum |
torch.topk(input, k, dim=-1, largest=True, sorted=True) | topk |
torch.trace(input) | trace |
torch.trapezoid(input|y, x, *, dim=-1 / input|y, *, dx=1, dim=-1) | | trapz
torch.unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None) | unique | functional.unique
torch.unique_consecutive(input, return_inverse=False, return_counts=False, dim=None) | unique_consecutive | functional.unique_consecutive
torch.var(input, dim=None, *, correction=None, keepdim=False / input, dim, unbiased=True, keepdim=False / input, unbiased) | var |
torch.var_mean(input, dim=None, *, correction=None, keepdim=False / input, dim, unbiased=True, keepdim=False / input, unbiased) | |
"""
