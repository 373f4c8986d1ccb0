"""The spellings of layers: normalisation, losses, distances, linear algebra, convolutions, and their nn.Module forms.

`table_arithmetic` says how to read a line of operations. A line of MODULES is

    torch.nn.Class(constructor parameters) -> canonical(values the class fixes)

A constructor parameter of the same name as a parameter of the operation is that parameter, `padding>pad` names the
one it is, and `~bias` is for the constructor alone. What the operation still lacks is what a call of the module gives,
in the operation's order; weights and running statistics are the module's own.
"""

NORMALISATION = """
torch.nn.functional.alpha_dropout(input, p=0.5, training=False, inplace=False) | | alpha_dropout alpha_dropout_
torch.nn.functional.batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05) | |
torch.nn.functional.dropout(input, p=0.5, training|train=True, inplace=False) | | dropout dropout_
torch.nn.functional.dropout1d(input, p=0.5, training=True, inplace=False) | |
torch.nn.functional.dropout2d(input, p=0.5, training=True, inplace=False) | |
torch.nn.functional.dropout3d(input, p=0.5, training=True, inplace=False) | |
torch.nn.functional.feature_alpha_dropout(input, p=0.5, training=False, inplace=False) | | feature_alpha_dropout feature_alpha_dropout_
torch.nn.functional.group_norm(input, num_groups, weight=None, bias=None, eps=1e-05) | | group_norm
torch.nn.functional.instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05) | |
torch.nn.functional.layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05) | | layer_norm
torch.nn.functional.local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0) | |
torch.nn.functional.multi_head_attention_forward(input|query, key, value, embed_dim_to_check, num_heads) | |
torch.nn.functional.normalize(input, p=2.0, dim=1, eps=1e-12) | |
torch.nn.functional.rms_norm(input, normalized_shape, weight=None, eps=None) | | rms_norm
torch.nn.functional.scaled_dot_product_attention(input|query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False) | |
torch.nn.utils.clip_grad_norm_(input|parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None) | | nn.utils.clip_grad_norm nn.utils.clip_grad.clip_grad_norm_ nn.utils.clip_grad.clip_grad_norm
torch.nn.utils.clip_grad_value_(input|parameters, clip_value, foreach=None) | | nn.utils.clip_grad.clip_grad_value_
torch.nn.utils.clip_grads_with_norm_(input|parameters, max_norm, total_norm, foreach=None) | |
torch.nn.utils.get_total_norm(input|tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None) | |
"""

LOSSES = """
torch.cdist(input|x1, other|x2, p=2.0, compute_mode=use_mm_for_euclid_dist_if_necessary) | | functional.cdist
torch.cosine_similarity(input|x1, other|x2, dim=1, eps=1e-08) | | F.cosine_similarity
torch.dist(input, other, p=2) | dist |
torch.nn.functional.binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction=mean) | |
torch.nn.functional.binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction=mean, pos_weight=None) | |
torch.nn.functional.cosine_embedding_loss(input|input1, other|input2, target, margin=0, size_average=None, reduce=None, reduction=mean) | |
torch.nn.functional.cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction=mean, label_smoothing=0.0) | |
torch.nn.functional.ctc_loss(input|log_probs, targets, input_lengths, target_lengths, blank=0, reduction=mean, zero_infinity=False) | | ctc_loss
torch.nn.functional.gaussian_nll_loss(input, target, var, full=False, eps=1e-06, reduction=mean) | |
torch.nn.functional.hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction=mean) | |
torch.nn.functional.huber_loss(input, target, reduction=mean, delta=1.0, weight=None) | |
torch.nn.functional.kl_div(input, target, size_average=None, reduce=None, reduction=mean, log_target=False) | |
torch.nn.functional.l1_loss(input, target, size_average=None, reduce=None, reduction=mean, weight=None) | |
torch.nn.functional.margin_ranking_loss(input|input1, other|input2, target, margin=0, size_average=None, reduce=None, reduction=mean) | |
torch.nn.functional.mse_loss(input, target, size_average=None, reduce=None, reduction=mean, weight=None) | |
torch.nn.functional.multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction=mean) | |
torch.nn.functional.multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction=mean) | |
torch.nn.functional.multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction=mean) | |
torch.nn.functional.nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction=mean) | |
torch.nn.functional.poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction=mean) | |
torch.nn.functional.smooth_l1_loss(input, target, size_average=None, reduce=None, reduction=mean, beta=1.0) | |
torch.nn.functional.soft_margin_loss(input, target, size_average=None, reduce=None, reduction=mean) | |
torch.nn.functional.triplet_margin_loss(input|anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, size_average=None, reduce=None, reduction=mean) | |
torch.nn.functional.triplet_margin_with_distance_loss(input|anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction=mean) | |
torch.pairwise_distance(input|x1, other|x2, p=2.0, eps=1e-06, keepdim=False) | | F.pairwise_distance
torch.pdist(input, p=2.0) | | F.pdist
"""

LINEAR_ALGEBRA = """
einops.einsum(*operands) | |
torch.addbmm(input, batch1, batch2, *, beta=1, alpha=1) | addbmm addbmm_ |
torch.addmm(input, mat1, mat2, *, beta=1, alpha=1) | addmm addmm_ |
torch.addmv(input, mat, vec, *, beta=1, alpha=1) | addmv addmv_ | addmv_
torch.addr(input, vec1, vec2, *, beta=1, alpha=1) | addr addr_ |
torch.baddbmm(input, batch1, batch2, *, beta=1, alpha=1) | baddbmm baddbmm_ |
torch.bilinear(input|input1, other|input2, weight, bias=None) | | F.bilinear
torch.bmm(input, mat2) | bmm |
torch.chain_matmul(*matrices) | | functional.chain_matmul
torch.cholesky(input, upper=False) | cholesky |
torch.cholesky_inverse(input|L, upper=False) | cholesky_inverse |
torch.cholesky_solve(input|B, input2|L, upper=False) | cholesky_solve |
torch.conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) | | F.conv1d
torch.conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) | | F.conv2d
torch.conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1) | | F.conv3d
torch.conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1) | | F.conv_transpose1d
torch.conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1) | | F.conv_transpose2d
torch.conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1) | | F.conv_transpose3d
torch.cross(input, other, dim=None) | cross |
torch.det(input|A) | det | linalg.det
torch.dot(input, tensor) | dot |
torch.einsum(equation, *operands) | | functional.einsum
torch.inner(input, other) | inner |
torch.inverse(input|A) | inverse | linalg.inv
torch.kron(input, other) | kron |
torch.linalg.cholesky(input|A, *, upper=False) | |
torch.linalg.cholesky_ex(input|A, *, upper=False, check_errors=False) | |
torch.linalg.cond(input|A, p=None) | |
torch.linalg.cross(input, other, *, dim=-1) | |
torch.linalg.eig(input|A) | |
torch.linalg.eigh(input|A, UPLO=L) | |
torch.linalg.eigvals(input|A) | |
torch.linalg.eigvalsh(input|A, UPLO=L) | |
torch.linalg.inv_ex(input|A, *, check_errors=False) | |
torch.linalg.lstsq(input|A, B|b, rcond=None, *, driver=None) | |
torch.linalg.lu(input|A, *, pivot=True) | |
torch.linalg.lu_factor(input|A, *, pivot=True) | |
torch.linalg.matrix_rank(input|A, *, atol=None, rtol=None, hermitian=False) | |
torch.linalg.multi_dot(input|tensors) | |
torch.linalg.pinv(input|A, *, atol=None, rtol=None, hermitian=False) | |
torch.linalg.qr(input|A, mode=reduced) | |
torch.linalg.solve(input|A, other|B, *, left=True) | |
torch.linalg.solve_triangular(input|A, other|B, *, upper, left=True, unitriangular=False) | |
torch.linalg.svd(input|A, full_matrices=True, *, driver=None) | |
torch.linalg.svdvals(input|A, *, driver=None) | |
torch.linalg.vecdot(input|x, other|y, *, dim=-1) | |
torch.logdet(input) | logdet |
torch.lu_solve(input|b, LU_data, LU_pivots) | lu_solve |
torch.matmul(input, other) | matmul | linalg.matmul
torch.matrix_exp(input|A) | matrix_exp | linalg.matrix_exp
torch.matrix_power(input|A, n) | matrix_power | linalg.matrix_power
torch.mm(input, mat2) | mm |
torch.mv(input, vec) | mv |
torch.nn.functional.embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False) | |
torch.nn.functional.embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode=mean, sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None) | |
torch.nn.functional.linear(input, weight, bias=None) | |
torch.outer(input, vec2) | outer ger | ger
torch.pca_lowrank(input|A, q=None, center=True, niter=2) | | functional.pca_lowrank
torch.pinverse(input, rcond=1e-15) | pinverse |
torch.qr(input, some=True) | qr |
torch.slogdet(input|A) | slogdet | linalg.slogdet
torch.svd(input, some=True, compute_uv=True) | svd |
torch.svd_lowrank(input|A, q=6, niter=2, M=None) | | functional.svd_lowrank
torch.tensordot(input|a, other|b, dims=2) | | functional.tensordot
torch.triangular_solve(input|b, A, upper=True, transpose=False, unitriangular=False) | triangular_solve |
torch.vdot(input, other) | vdot |
"""

POOLING = """
torch.adaptive_avg_pool1d(input, output_size) | | F.adaptive_avg_pool1d
torch.avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True) | | F.avg_pool1d
torch.channel_shuffle(input, groups) | | F.channel_shuffle
torch.nn.functional.adaptive_avg_pool2d(input, output_size) | |
torch.nn.functional.adaptive_avg_pool3d(input, output_size) | |
torch.nn.functional.adaptive_max_pool1d(input, output_size, return_indices=False) | |
torch.nn.functional.adaptive_max_pool2d(input, output_size, return_indices=False) | |
torch.nn.functional.adaptive_max_pool3d(input, output_size, return_indices=False) | |
torch.nn.functional.affine_grid(input|theta, size, align_corners=None) | |
torch.nn.functional.avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None) | |
torch.nn.functional.avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None) | |
torch.nn.functional.fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1) | |
torch.nn.functional.grid_sample(input, grid, mode=bilinear, padding_mode=zeros, align_corners=None) | |
torch.nn.functional.interpolate(input, size=None, scale_factor=None, mode=nearest, align_corners=None, recompute_scale_factor=None, antialias=False) | | F.upsample
torch.nn.functional.lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False) | |
torch.nn.functional.lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False) | |
torch.nn.functional.max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False) | | max_pool1d
torch.nn.functional.max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False) | | max_pool2d
torch.nn.functional.max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False) | | max_pool3d
torch.nn.functional.pad(input, pad, mode=constant, value=None) | |
torch.nn.functional.unfold(input, kernel_size, dilation=1, padding=0, stride=1) | |
torch.pixel_shuffle(input, upscale_factor) | | F.pixel_shuffle
torch.pixel_unshuffle(input, downscale_factor) | | F.pixel_unshuffle
"""

MODULES = """
torch.nn.AdaptiveAvgPool1d(output_size) -> torch.adaptive_avg_pool1d
torch.nn.AdaptiveAvgPool2d(output_size) -> torch.F.adaptive_avg_pool2d
torch.nn.AdaptiveAvgPool3d(output_size) -> torch.F.adaptive_avg_pool3d
torch.nn.AdaptiveMaxPool1d(output_size, return_indices=False) -> torch.F.adaptive_max_pool1d
torch.nn.AdaptiveMaxPool2d(output_size, return_indices=False) -> torch.F.adaptive_max_pool2d
torch.nn.AdaptiveMaxPool3d(output_size, return_indices=False) -> torch.F.adaptive_max_pool3d
torch.nn.AlphaDropout(p=0.5, inplace=False) -> torch.F.alpha_dropout
torch.nn.AvgPool1d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True) -> torch.avg_pool1d
torch.nn.AvgPool2d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None) -> torch.F.avg_pool2d
torch.nn.AvgPool3d(kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None) -> torch.F.avg_pool3d
torch.nn.BCELoss(weight=None, size_average=None, reduce=None, reduction=mean) -> torch.F.binary_cross_entropy
torch.nn.BCEWithLogitsLoss(weight=None, size_average=None, reduce=None, reduction=mean, pos_weight=None) -> torch.F.binary_cross_entropy_with_logits
torch.nn.BatchNorm1d(~num_features, eps=1e-05, momentum=0.1, ~affine=True, ~track_running_stats=True) -> torch.F.batch_norm(training=True)
torch.nn.BatchNorm2d(~num_features, eps=1e-05, momentum=0.1, ~affine=True, ~track_running_stats=True) -> torch.F.batch_norm(training=True)
torch.nn.BatchNorm3d(~num_features, eps=1e-05, momentum=0.1, ~affine=True, ~track_running_stats=True) -> torch.F.batch_norm(training=True)
torch.nn.Bilinear(~in1_features, ~in2_features, ~out_features, ~bias=True) -> torch.bilinear
torch.nn.CELU(alpha=1.0, ~inplace=False) -> torch.celu
torch.nn.CTCLoss(blank=0, reduction=mean, zero_infinity=False) -> torch.F.ctc_loss
torch.nn.ChannelShuffle(groups) -> torch.channel_shuffle
torch.nn.CircularPad1d(padding>pad) -> torch.F.pad(mode=circular)
torch.nn.CircularPad2d(padding>pad) -> torch.F.pad(mode=circular)
torch.nn.CircularPad3d(padding>pad) -> torch.F.pad(mode=circular)
torch.nn.ConstantPad1d(padding>pad, value) -> torch.F.pad
torch.nn.ConstantPad2d(padding>pad, value) -> torch.F.pad
torch.nn.ConstantPad3d(padding>pad, value) -> torch.F.pad
torch.nn.Conv1d(~in_channels, ~out_channels, ~kernel_size, stride=1, padding=0, dilation=1, groups=1, ~bias=True, ~padding_mode=zeros) -> torch.conv1d
torch.nn.Conv2d(~in_channels, ~out_channels, ~kernel_size, stride=1, padding=0, dilation=1, groups=1, ~bias=True, ~padding_mode=zeros) -> torch.conv2d
torch.nn.Conv3d(~in_channels, ~out_channels, ~kernel_size, stride=1, padding=0, dilation=1, groups=1, ~bias=True, ~padding_mode=zeros) -> torch.conv3d
torch.nn.ConvTranspose1d(~in_channels, ~out_channels, ~kernel_size, stride=1, padding=0, output_padding=0, groups=1, ~bias=True, dilation=1) -> torch.conv_transpose1d
torch.nn.ConvTranspose2d(~in_channels, ~out_channels, ~kernel_size, stride=1, padding=0, output_padding=0, groups=1, ~bias=True, dilation=1) -> torch.conv_transpose2d
torch.nn.ConvTranspose3d(~in_channels, ~out_channels, ~kernel_size, stride=1, padding=0, output_padding=0, groups=1, ~bias=True, dilation=1) -> torch.conv_transpose3d
torch.nn.CosineEmbeddingLoss(margin=0.0, size_average=None, reduce=None, reduction=mean) -> torch.F.cosine_embedding_loss
torch.nn.CosineSimilarity(dim=1, eps=1e-08) -> torch.cosine_similarity
torch.nn.CrossEntropyLoss(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction=mean, label_smoothing=0.0) -> torch.F.cross_entropy
torch.nn.Dropout(p=0.5, inplace=False) -> torch.F.dropout
torch.nn.Dropout1d(p=0.5, inplace=False) -> torch.F.dropout1d
torch.nn.Dropout2d(p=0.5, inplace=False) -> torch.F.dropout2d
torch.nn.Dropout3d(p=0.5, inplace=False) -> torch.F.dropout3d
torch.nn.ELU(alpha=1.0, inplace=False) -> torch.F.elu
torch.nn.Embedding(~num_embeddings, ~embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False) -> torch.F.embedding
torch.nn.EmbeddingBag(~num_embeddings, ~embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode=mean, sparse=False) -> torch.F.embedding_bag
torch.nn.FeatureAlphaDropout(p=0.5, inplace=False) -> torch.F.feature_alpha_dropout
torch.nn.Flatten(start_dim=1, end_dim=-1) -> torch.flatten
torch.nn.Fold(output_size, kernel_size, dilation=1, padding=0, stride=1) -> torch.F.fold
torch.nn.GELU(approximate=none) -> torch.F.gelu
torch.nn.GLU(dim=-1) -> torch.F.glu
torch.nn.GaussianNLLLoss(*, full=False, eps=1e-06, reduction=mean) -> torch.F.gaussian_nll_loss
torch.nn.GroupNorm(num_groups, ~num_channels, eps=1e-05, ~affine=True) -> torch.F.group_norm
torch.nn.Hardshrink(lambd=0.5) -> torch.hardshrink
torch.nn.Hardsigmoid(inplace=False) -> torch.F.hardsigmoid
torch.nn.Hardswish(inplace=False) -> torch.F.hardswish
torch.nn.Hardtanh(min_val=-1.0, max_val=1.0, inplace=False) -> torch.F.hardtanh
torch.nn.HingeEmbeddingLoss(margin=1.0, size_average=None, reduce=None, reduction=mean) -> torch.F.hinge_embedding_loss
torch.nn.HuberLoss(reduction=mean, delta=1.0) -> torch.F.huber_loss
torch.nn.Identity(*args) -> torch.positive
torch.nn.InstanceNorm1d(~num_features, eps=1e-05, momentum=0.1, ~affine=False, ~track_running_stats=False) -> torch.F.instance_norm
torch.nn.InstanceNorm2d(~num_features, eps=1e-05, momentum=0.1, ~affine=False, ~track_running_stats=False) -> torch.F.instance_norm
torch.nn.InstanceNorm3d(~num_features, eps=1e-05, momentum=0.1, ~affine=False, ~track_running_stats=False) -> torch.F.instance_norm
torch.nn.KLDivLoss(size_average=None, reduce=None, reduction=mean, log_target=False) -> torch.F.kl_div
torch.nn.L1Loss(size_average=None, reduce=None, reduction=mean) -> torch.F.l1_loss
torch.nn.LPPool1d(norm_type, kernel_size, stride=None, ceil_mode=False) -> torch.F.lp_pool1d
torch.nn.LPPool2d(norm_type, kernel_size, stride=None, ceil_mode=False) -> torch.F.lp_pool2d
torch.nn.LayerNorm(normalized_shape, eps=1e-05, ~elementwise_affine=True, ~bias=True) -> torch.F.layer_norm
torch.nn.LazyBatchNorm1d(eps=1e-05, momentum=0.1, ~affine=True, ~track_running_stats=True) -> torch.F.batch_norm(training=True)
torch.nn.LazyBatchNorm2d(eps=1e-05, momentum=0.1, ~affine=True, ~track_running_stats=True) -> torch.F.batch_norm(training=True)
torch.nn.LazyBatchNorm3d(eps=1e-05, momentum=0.1, ~affine=True, ~track_running_stats=True) -> torch.F.batch_norm(training=True)
torch.nn.LazyConv1d(~out_channels, ~kernel_size, stride=1, padding=0, dilation=1, groups=1, ~bias=True, ~padding_mode=zeros) -> torch.conv1d
torch.nn.LazyConv2d(~out_channels, ~kernel_size, stride=1, padding=0, dilation=1, groups=1, ~bias=True, ~padding_mode=zeros) -> torch.conv2d
torch.nn.LazyLinear(~out_features, ~bias=True) -> torch.F.linear
torch.nn.LeakyReLU(negative_slope=0.01, inplace=False) -> torch.F.leaky_relu
torch.nn.Linear(~in_features, ~out_features, ~bias=True) -> torch.F.linear
torch.nn.LocalResponseNorm(size, alpha=0.0001, beta=0.75, k=1.0) -> torch.F.local_response_norm
torch.nn.LogSigmoid() -> torch.F.logsigmoid
torch.nn.LogSoftmax(dim=None) -> torch.log_softmax
torch.nn.MSELoss(size_average=None, reduce=None, reduction=mean) -> torch.F.mse_loss
torch.nn.MarginRankingLoss(margin=0.0, size_average=None, reduce=None, reduction=mean) -> torch.F.margin_ranking_loss
torch.nn.MaxPool1d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False) -> torch.F.max_pool1d
torch.nn.MaxPool2d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False) -> torch.F.max_pool2d
torch.nn.MaxPool3d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False) -> torch.F.max_pool3d
torch.nn.Mish(inplace=False) -> torch.F.mish
torch.nn.MultiLabelMarginLoss(size_average=None, reduce=None, reduction=mean) -> torch.F.multilabel_margin_loss
torch.nn.MultiLabelSoftMarginLoss(weight=None, size_average=None, reduce=None, reduction=mean) -> torch.F.multilabel_soft_margin_loss
torch.nn.MultiMarginLoss(p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction=mean) -> torch.F.multi_margin_loss
torch.nn.MultiheadAttention(embed_dim>embed_dim_to_check, num_heads, ~dropout=0.0, ~bias=True) -> torch.F.multi_head_attention_forward
torch.nn.NLLLoss(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction=mean) -> torch.F.nll_loss
torch.nn.PReLU(~num_parameters=1, ~init=0.25) -> torch.prelu
torch.nn.PairwiseDistance(p=2.0, eps=1e-06, keepdim=False) -> torch.pairwise_distance
torch.nn.PixelShuffle(upscale_factor) -> torch.pixel_shuffle
torch.nn.PixelUnshuffle(downscale_factor) -> torch.pixel_unshuffle
torch.nn.PoissonNLLLoss(log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction=mean) -> torch.F.poisson_nll_loss
torch.nn.RMSNorm(normalized_shape, eps=None, ~elementwise_affine=True) -> torch.F.rms_norm
torch.nn.RReLU(lower=0.125, upper=0.3333333333333333, ~inplace=False) -> torch.rrelu(training=True)
torch.nn.ReLU(inplace=False) -> torch.relu
torch.nn.ReLU6(inplace=False) -> torch.F.relu6
torch.nn.ReflectionPad1d(padding>pad) -> torch.F.pad(mode=reflect)
torch.nn.ReflectionPad2d(padding>pad) -> torch.F.pad(mode=reflect)
torch.nn.ReflectionPad3d(padding>pad) -> torch.F.pad(mode=reflect)
torch.nn.ReplicationPad1d(padding>pad) -> torch.F.pad(mode=replicate)
torch.nn.ReplicationPad2d(padding>pad) -> torch.F.pad(mode=replicate)
torch.nn.ReplicationPad3d(padding>pad) -> torch.F.pad(mode=replicate)
torch.nn.SELU(inplace=False) -> torch.selu
torch.nn.SiLU(inplace=False) -> torch.F.silu
torch.nn.Sigmoid() -> torch.sigmoid
torch.nn.SmoothL1Loss(size_average=None, reduce=None, reduction=mean, beta=1.0) -> torch.F.smooth_l1_loss
torch.nn.SoftMarginLoss(size_average=None, reduce=None, reduction=mean) -> torch.F.soft_margin_loss
torch.nn.Softmax(dim=None) -> torch.softmax
torch.nn.Softmax2d() -> torch.softmax(dim=-3)
torch.nn.Softmin(dim=None) -> torch.F.softmin
torch.nn.Softplus(beta=1.0, threshold=20.0) -> torch.F.softplus
torch.nn.Softshrink(lambd=0.5) -> torch.F.softshrink
torch.nn.Softsign() -> torch.F.softsign
torch.nn.SyncBatchNorm(~num_features, eps=1e-05, momentum=0.1, ~affine=True, ~track_running_stats=True) -> torch.F.batch_norm(training=True)
torch.nn.Tanh() -> torch.tanh
torch.nn.Tanhshrink() -> torch.F.tanhshrink
torch.nn.Threshold(threshold, value, ~inplace=False) -> torch.threshold
torch.nn.TripletMarginLoss(margin=1.0, p=2.0, eps=1e-06, swap=False, size_average=None, reduce=None, reduction=mean) -> torch.F.triplet_margin_loss
torch.nn.TripletMarginWithDistanceLoss(*, distance_function=None, margin=1.0, swap=False, reduction=mean) -> torch.F.triplet_margin_with_distance_loss
torch.nn.Unflatten(dim, unflattened_size>sizes) -> torch.unflatten
torch.nn.Unfold(kernel_size, dilation=1, padding=0, stride=1) -> torch.F.unfold
torch.nn.Upsample(size=None, scale_factor=None, mode=nearest, align_corners=None, recompute_scale_factor=None) -> torch.F.interpolate
torch.nn.UpsamplingBilinear2d(size=None, scale_factor=None) -> torch.F.interpolate(mode=bilinear)
torch.nn.UpsamplingNearest2d(size=None, scale_factor=None) -> torch.F.interpolate(mode=nearest)
torch.nn.ZeroPad1d(padding>pad) -> torch.F.pad(value=0.0)
torch.nn.ZeroPad2d(padding>pad) -> torch.F.pad(value=0.0)
torch.nn.ZeroPad3d(padding>pad) -> torch.F.pad(value=0.0)
"""
