"""The danger zones, measured: which values of an operand make an operation, or its gradient, infinite or NaN.

Data alone; `nanlint.ops.zones` reads it, and a test re-derives every edge from torch, forward and through autograd with
a gradient of 1, in each format. One line is one zone:

    operation operand direction result shape edges     direction F forward, B backward, FB both

    above e    e <= x                   beyond e    e <= |x|           at v       x = v
    below e    x <= e                   within e    |x| <= e           off v      x = v or x = -v
    past v     v < x                    outside v   v < |x|            whole v    an integer x <= v
    under v    x < v                    ring a:b    a <= |x| <= b      row v      every x of a row is v

Edges are given for float16, bfloat16, float32 and float64, one for all if they agree, `-` where there is none. They are
rounded to the format. Where torch's vector and scalar code differ (sinh, rsqrt) the wider zone counts. The other operand
is 1 (the target of kl_div and mse_loss 0), of a pair written with `&` it is the same value.
"""

ZONES = """
torch.acos input F nan outside 1
torch.acos input B inf beyond 1
torch.acosh input F nan under 1
torch.acosh input B nan within 1
torch.addcdiv tensor2 F inf within 1.526e-05 2.9e-39 2.938736e-39 5.562684646268003e-309
torch.addcdiv tensor2 B inf within 0.003906 5.42e-20 5.421011e-20 7.458340731200207e-155
torch.asin input F nan outside 1
torch.asin input B inf beyond 1
torch.atan2 input&other B nan ring 0.0001727:0.002766 6.83e-21:3.88e-20 2.6469783e-23:3.8332344e-20 1.5717277847026288e-162:5.2738433074315015e-155
torch.atanh input F inf off 1
torch.atanh input F nan outside 1
torch.atanh input B inf off 1
torch.cosh input FB inf beyond 11.79 89 88.72284 709.7827128933841
torch.digamma input F inf within 1.526e-05 2.9e-39 2.938736e-39 5.562684646268003e-309
torch.digamma input F nan whole -1
torch.digamma input B inf within 0.003906 5.42e-20 5.421011e-20 7.458340731200207e-155
torch.div other F inf within 1.526e-05 2.9e-39 2.938736e-39 5.562684646268003e-309
torch.div other B inf within 0.003906 5.42e-20 5.421011e-20 7.458340731200207e-155
torch.erfinv input F inf off 1
torch.erfinv input F nan outside 1
torch.erfinv input B inf beyond 1
torch.exp input FB inf above 11.09 89 88.72284 709.7827128933841
torch.exp2 input FB inf above 16 128 128 1024
torch.expm1 input FB inf above 11.09 89 88.72284 709.7827128933841
torch.floor_divide other F inf within 1.526e-05 2.9e-39 2.938736e-39 5.562684646268003e-309
torch.fmod other F nan within 0 2.85e-39 2.938734e-39 5.562684646268e-309
torch.fmod other B inf within 1.526e-05 2.9e-39 2.938736e-39 5.562684646268003e-309
torch.hypot input&other F inf beyond 4.634e+04 2.4e+38 2.4061597e+38 1.2711610061536464e+308
torch.hypot input&other B nan at 0
torch.i0 input F inf beyond 13.3 89 88.72284 709.7827128933841
torch.i0 input B inf beyond 13.336 89 88.72284 709.7827128933841
torch.igamma other F nan under 0
torch.igamma other B nan below 0
torch.ldexp other FB inf above 16 128 128 1024
torch.lgamma input F inf above 8184 4.05e+36 4.0371103e+36 2.556348163871691e+305
torch.lgamma input F inf whole 0
torch.lgamma input B inf within 1.526e-05 2.9e-39 2.938736e-39 5.562684646268003e-309
torch.lgamma input B nan whole -1
torch.log input F -inf at 0
torch.log input F nan under 0
torch.log input B inf within 1.526e-05 2.9e-39 2.938736e-39 5.562684646268003e-309
torch.log10 input F -inf at 0
torch.log10 input F nan under 0
torch.log10 input B inf within 6.6e-06 1.3e-39 1.276276e-39 2.415843246442137e-309
torch.log1p input F -inf at -1
torch.log1p input F nan under -1
torch.log1p input B inf at -1
torch.log2 input F -inf at 0
torch.log2 input F nan under 0
torch.log2 input B inf within 2.205e-05 4.2e-39 4.2397e-39 8.02525755320003e-309
torch.log_softmax input FB nan row -inf
torch.logaddexp input&other B nan at -inf
torch.logit input F -inf at 0
torch.logit input F inf at 1
torch.logit input F nan under 0
torch.logit input F nan past 1
torch.logit input B inf below 1.526e-05 2.9e-39 2.938736e-39 5.562684646268003e-309
torch.logit input B inf above 1
torch.logsumexp input F -inf row -inf
torch.logsumexp input B nan row -inf
torch.mvlgamma input F inf above 4.43e+03 2.06e+36 2.0594344e+36 1.2812545499066958e+305
torch.mvlgamma input FB inf at 0.5
torch.mvlgamma input F inf at 0
torch.mvlgamma input B inf within 1.526e-05 2.9e-39 2.938736e-39 5.562684646268003e-309
torch.nn.functional.gelu input F inf above - 1.7e+38 1.7014118e+38 -
torch.nn.functional.hardswish input F inf above - 5.68e+37 5.671373e+37 2.9961552247705263e+307
torch.nn.functional.kl_div target F nan under 0
torch.nn.functional.kl_div target F inf above 7.36e+03 4.03e+36 4.0371106e+36 2.556348163871691e+305
torch.nn.functional.kl_div target B nan below 0
torch.nn.functional.mse_loss input F inf beyond 256 1.845e+19 1.8446744e+19 1.3407807929942597e+154
torch.nn.functional.mse_loss input B inf beyond 3.277e+04 1.7e+38 1.7014118e+38 8.98846567431158e+307
torch.nn.functional.poisson_nll_loss input FB inf above 11.09 89 88.72284 709.7827128933841
torch.nn.functional.soft_margin_loss input FB inf below -11.09 -89 -88.72284 -709.7827128933841
torch.nn.functional.softmin input FB nan row inf
torch.polygamma input F inf within 0.003906 5.42e-20 5.421011e-20 7.458340731200207e-155
torch.polygamma input B inf within 0.03125 1.8e-13 1.804666e-13 2.2323972485981933e-103
torch.rad2deg input F inf beyond 1144 5.94e+36 5.9390476e+36 3.137566414384587e+306
torch.reciprocal input F inf within 1.526e-05 2.9e-39 2.938736e-39 5.562684646268003e-309
torch.reciprocal input B inf within 0.003906 5.42e-20 5.421011e-20 7.458340731200207e-155
torch.remainder other F nan within 0 2.85e-39 2.938734e-39 5.562684646268e-309
torch.remainder other B inf within 1.526e-05 2.9e-39 2.938736e-39 5.562684646268003e-309
torch.rsqrt input F inf at 0
torch.rsqrt input F nan under 0
torch.rsqrt input B inf below 0.000615 2.05e-26 2.0516679e-26 3.139469681823431e-206
torch.selu input F inf above 6.237e+04 3.24e+38 3.2386221e+38 1.710946460026603e+308
torch.sinc input F nan beyond - 1.08e+38 1.0831524e+38 5.722234971514057e+307
torch.sinc input B nan beyond 2.086e+04 1.08e+38 1.0831524e+38 5.722234971514057e+307
torch.sinh input FB inf beyond 11.79 89 88.72284 709.7827128933841
torch.softmax input FB nan row -inf
torch.special.bessel_y0 input F nan below - - 0 0
torch.special.bessel_y1 input F nan below - - 2.938736e-39 5.562684646268003e-309
torch.special.entr input F -inf under 0
torch.special.entr input F -inf above 7.36e+03 4.03e+36 4.0371106e+36 2.556348163871691e+305
torch.special.entr input B inf below 0
torch.special.erfcx input F inf below - - -9.382414 -26.628735713751492
torch.special.erfcx input B inf below - - -9.225755 -26.554043693782738
torch.special.erfcx input B nan above - - 1.7014118e+38 8.98846567431158e+307
torch.special.i1 input FB inf beyond - - 88.72284 709.7827128933841
torch.special.log_ndtr input F -inf below - - -2.6087637e+19 -1.8961503816218352e+154
torch.special.ndtri input F nan below - - 0 0
torch.special.ndtri input F nan above - - 1 1
torch.special.ndtri input B nan below - - 2.2052e-40 1.4763259640876e-310
torch.special.ndtri input B nan above - - 1 1
torch.special.xlog1py other F -inf at -1
torch.special.xlog1py other F nan under -1
torch.special.xlog1py other B inf at -1
torch.sqrt input F nan under 0
torch.sqrt input B inf at 0
torch.sqrt input B nan under 0
torch.square input F inf beyond 256 1.845e+19 1.8446744e+19 1.3407807929942597e+154
torch.square input B inf beyond 3.277e+04 1.7e+38 1.7014118e+38 8.98846567431158e+307
torch.xlogy other F -inf at 0
torch.xlogy other F nan under 0
torch.xlogy other B inf within 1.526e-05 2.9e-39 2.938736e-39 5.562684646268003e-309
torch.xlogy input&other B nan at 0
"""

# The shapes people write by hand, as expressions in x. A row is 16 equal values.
