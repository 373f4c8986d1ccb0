"""The spellings of operations that select, compare, move and create values; `table_arithmetic` says how to read them."""

SELECTION = """
torch.bucketize(input, boundaries, *, out_int32=False, right=False) | |
torch.gather(input, dim, index, *, sparse_grad=False) | gather |
torch.index_add(input, dim, index, source, *, alpha=1) | index_add index_add_ |
torch.index_copy(input, dim, index, source) | index_copy index_copy_ |
torch.index_fill(input, dim, index, value) | index_fill index_fill_ |
torch.index_put(input, indices, values, accumulate=False) | index_put index_put_ | index_put_
torch.index_reduce(input, dim, index, source, reduce, *, include_self=True) | index_reduce index_reduce_ |
torch.index_select(input, dim, index) | index_select |
torch.masked_fill(input, mask, value) | masked_fill masked_fill_ |
torch.masked_scatter(input, mask, source) | masked_scatter masked_scatter_ |
torch.masked_select(input, mask) | masked_select |
torch.narrow(input, dim, start, length) | narrow narrow_copy | narrow_copy
torch.nn.functional.one_hot(input, num_classes=-1) | |
torch.nonzero(input, *, as_tuple=False) | nonzero |
torch.argwhere(input) | argwhere |
torch.scatter(input, dim, index, src, *, reduce=None / input, dim, index, value, *, reduce=None) | scatter scatter_ |
torch.scatter_add(input, dim, index, src) | scatter_add scatter_add_ |
torch.scatter_reduce(input, dim, index, src, reduce, *, include_self=True) | scatter_reduce scatter_reduce_ |
torch.searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None) | |
torch.select(input, dim, index) | select |
torch.select_scatter(input, src, dim, index) | select_scatter |
torch.slice_scatter(input, src, dim=0, start=None, end=None, step=1) | slice_scatter |
torch.take(input, index) | take |
torch.take_along_dim(input, indices, dim=None) | take_along_dim |
torch.tril(input, diagonal=0) | tril tril_ |
torch.triu(input, diagonal=0) | triu triu_ |
torch.where(condition, input, other / condition) | where |
"""

TESTS = """
torch.allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False) | allclose |
torch.bitwise_and(input, other) | bitwise_and bitwise_and_ |
torch.bitwise_left_shift(input, other) | bitwise_left_shift bitwise_left_shift_ |
torch.bitwise_not(input) | bitwise_not bitwise_not_ |
torch.bitwise_or(input, other) | bitwise_or bitwise_or_ |
torch.bitwise_right_shift(input, other) | bitwise_right_shift bitwise_right_shift_ |
torch.bitwise_xor(input, other) | bitwise_xor bitwise_xor_ |
torch.eq(input, other) | eq eq_ |
torch.equal(input, other) | equal |
torch.ge(input, other) | ge ge_ greater_equal greater_equal_ | greater_equal
torch.gt(input, other) | gt gt_ greater greater_ | greater
torch.is_nonzero(input) | is_nonzero |
torch.isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False) | isclose |
torch.isfinite(input) | isfinite |
torch.isin(input|elements, test_elements, *, assume_unique=False, invert=False) | |
torch.isinf(input) | isinf |
torch.isnan(input) | isnan |
torch.isneginf(input) | isneginf |
torch.isposinf(input) | isposinf |
torch.isreal(input) | isreal |
torch.le(input, other) | le le_ less_equal less_equal_ | less_equal
torch.logical_and(input, other) | logical_and logical_and_ |
torch.logical_not(input) | logical_not logical_not_ |
torch.logical_or(input, other) | logical_or logical_or_ |
torch.logical_xor(input, other) | logical_xor logical_xor_ |
torch.lt(input, other) | lt lt_ less less_ | less
torch.ne(input, other) | ne ne_ not_equal not_equal_ | not_equal
torch.signbit(input) | signbit |
"""

SHAPES = """
einops.rearrange(input|tensor, pattern) | |
einops.reduce(input|tensor, pattern, reduction) | |
einops.repeat(input|tensor, pattern) | |
torch.Tensor.bfloat16(input) | bfloat16 |
torch.Tensor.bool(input) | bool |
torch.Tensor.byte(input) | byte |
torch.Tensor.char(input) | char |
torch.Tensor.contiguous(input) | contiguous |
torch.Tensor.cpu(input) | cpu |
torch.Tensor.cuda(input) | cuda |
torch.Tensor.dim(input) | dim ndimension |
torch.Tensor.double(input) | double |
torch.Tensor.expand(input, *size) | expand |
torch.Tensor.expand_as(input, other) | expand_as |
torch.Tensor.float(input) | float |
torch.Tensor.half(input) | half |
torch.Tensor.int(input) | int |
torch.Tensor.item(input) | item |
torch.Tensor.long(input) | long |
torch.Tensor.numpy(input) | numpy |
torch.Tensor.pin_memory(input) | pin_memory |
torch.Tensor.repeat(input, *repeats) | repeat |
torch.Tensor.requires_grad_(input, requires_grad=True) | requires_grad_ |
torch.Tensor.reshape_as(input, other) | reshape_as |
torch.Tensor.short(input) | short |
torch.Tensor.size(input, dim=None) | size |
torch.Tensor.sum_to_size(input, *size) | sum_to_size |
torch.Tensor.to(input, device=None, dtype=None, non_blocking=False, copy=False, *, memory_format=None / input, dtype, non_blocking=False, copy=False / input, other, non_blocking=False, copy=False) | to |
torch.Tensor.to_dense(input, dtype=None) | to_dense |
torch.Tensor.tolist(input) | tolist |
torch.Tensor.type(input, dtype=None, non_blocking=False) | type |
torch.Tensor.type_as(input, other) | type_as |
torch.Tensor.unfold(input, dimension, size, step) | unfold |
torch.Tensor.view(input, *size) | view |
torch.Tensor.view_as(input, other) | view_as |
torch.adjoint(input) | adjoint |
torch.as_strided(input, size, stride, storage_offset=None) | as_strided as_strided_ | as_strided_
torch.atleast_1d(*tensors) | | functional.atleast_1d
torch.atleast_2d(*tensors) | | functional.atleast_2d
torch.atleast_3d(*tensors) | | functional.atleast_3d
torch.block_diag(*tensors) | | functional.block_diag
torch.broadcast_tensors(*tensors) | | functional.broadcast_tensors
torch.broadcast_to(input, size) | broadcast_to |
torch.cartesian_prod(*tensors) | | functional.cartesian_prod
torch.cat(input|tensors, dim=0) | | concat concatenate
torch.chunk(input, chunks, dim=0) | chunk | unsafe_chunk
torch.clone(input, *, memory_format=None) | clone |
torch.column_stack(input|tensors) | |
torch.combinations(input, r=2, with_replacement=False) | |
torch.detach(input) | detach detach_ | detach_
torch.diag(input, diagonal=0) | diag |
torch.diag_embed(input, offset=0, dim1=-2, dim2=-1) | diag_embed |
torch.diagflat(input, offset=0) | diagflat |
torch.diagonal(input, offset=0, dim1=0, dim2=1) | diagonal |
torch.dsplit(input, sections|indices) | dsplit |
torch.dstack(input|tensors) | |
torch.flatten(input, start_dim=0, end_dim=-1) | flatten |
torch.flip(input, *dims) | flip |
torch.fliplr(input) | fliplr |
torch.flipud(input) | flipud |
torch.hsplit(input, sections|indices) | hsplit |
torch.hstack(input|tensors) | |
torch.linalg.diagonal(input|A, *, offset=0, dim1=-2, dim2=-1) | |
torch.meshgrid(*tensors, indexing=None) | | functional.meshgrid
torch.movedim(input, source, destination) | movedim moveaxis | moveaxis
torch.numel(input) | numel nelement |
torch.permute(input, *dims) | permute |
torch.ravel(input) | ravel |
torch.repeat_interleave(input, repeats, dim=None, *, output_size=None) | repeat_interleave |
torch.reshape(input, *shape) | reshape |
torch.roll(input, shifts, dims=()) | roll |
torch.rot90(input, k=1, dims=(0,1)) | rot90 |
torch.split(input|tensor, split_size_or_sections|split_size|split_sizes, dim=0) | split split_with_sizes | functional.split
torch.squeeze(input, dim=None) | squeeze squeeze_ |
torch.stack(input|tensors, dim=0) | |
torch.t(input) | t t_ |
torch.tensor_split(input, indices_or_sections|sections|indices, dim=0) | tensor_split |
torch.tile(input, *dims) | tile |
torch.transpose(input, dim0, dim1) | transpose transpose_ swapaxes swapaxes_ swapdims swapdims_ | swapaxes swapdims
torch.unbind(input, dim=0) | unbind |
torch.unflatten(input, dim, sizes) | unflatten |
torch.unsqueeze(input, dim) | unsqueeze unsqueeze_ |
torch.view_as_complex(input) | |
torch.view_as_real(input) | |
torch.vsplit(input, sections|indices) | vsplit |
torch.vstack(input|tensors) | | row_stack
"""

CREATION = """
torch.Tensor(*size) | | FloatTensor HalfTensor BFloat16Tensor DoubleTensor
torch.Tensor.bernoulli_(input, p=0.5, *, generator=None) | bernoulli_ |
torch.Tensor.cauchy_(input, median=0, sigma=1, *, generator=None) | cauchy_ |
torch.Tensor.copy_(input, src, non_blocking=False) | copy_ |
torch.Tensor.exponential_(input, lambd=1, *, generator=None) | exponential_ |
torch.Tensor.fill_diagonal_(input, fill_value, wrap=False) | fill_diagonal_ |
torch.Tensor.geometric_(input, p, *, generator=None) | geometric_ |
torch.Tensor.log_normal_(input, mean=1, std=2, *, generator=None) | log_normal_ |
torch.Tensor.new_empty(input, size, *, dtype=None, device=None, requires_grad=False) | new_empty |
torch.Tensor.new_full(input, size, fill_value, *, dtype=None, device=None, requires_grad=False) | new_full |
torch.Tensor.new_ones(input, size, *, dtype=None, device=None, requires_grad=False) | new_ones |
torch.Tensor.new_tensor(input, data, *, dtype=None, device=None, requires_grad=False) | new_tensor |
torch.Tensor.new_zeros(input, size, *, dtype=None, device=None, requires_grad=False) | new_zeros |
torch.Tensor.normal_(input, mean=0, std=1, *, generator=None) | normal_ |
torch.Tensor.random_(input, from=0, to=None, *, generator=None) | random_ |
torch.Tensor.uniform_(input, from=0, to=1, *, generator=None) | uniform_ |
torch.Tensor.zero_(input) | zero_ | zero_
torch.arange(start, end, step=1, *, dtype=None, device=None / end, *, dtype=None, device=None) | |
torch.as_tensor(input|data, dtype=None, device=None) | | asarray
torch.bernoulli(input, *, generator=None / input, p, *, generator=None) | bernoulli |
torch.empty(*size, dtype=None, device=None, requires_grad=False) | |
torch.empty_like(input, *, dtype=None, device=None, requires_grad=False) | |
torch.empty_strided(size, stride, *, dtype=None, device=None, requires_grad=False) | |
torch.eye(n, m=None, *, dtype=None, device=None, requires_grad=False) | |
torch.from_numpy(input|ndarray) | |
torch.full(size, fill_value, *, dtype=None, device=None, requires_grad=False) | |
torch.full_like(input, fill_value, *, dtype=None, device=None, requires_grad=False) | |
torch.hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None) | |
torch.hann_window(window_length, periodic=True, *, dtype=None) | |
torch.linspace(start, end, steps, *, dtype=None, device=None) | |
torch.logspace(start, end, steps, base=10.0, *, dtype=None, device=None) | |
torch.multinomial(input, num_samples, replacement=False, *, generator=None) | multinomial |
torch.normal(mean, std=1.0, *, generator=None / mean, std, size, *, generator=None, dtype=None, device=None) | |
torch.ones(*size, dtype=None, device=None, requires_grad=False) | |
torch.ones_like(input, *, dtype=None, device=None, requires_grad=False) | |
torch.poisson(input, generator=None) | |
torch.rand(*size, dtype=None, device=None, requires_grad=False) | |
torch.rand_like(input, *, dtype=None, device=None, requires_grad=False) | |
torch.randint(low, high, size, *, dtype=None, device=None / high, size, *, dtype=None, device=None) | |
torch.randint_like(input, low, high, *, dtype=None, device=None / input, high, *, dtype=None, device=None) | |
torch.randn(*size, dtype=None, device=None, requires_grad=False) | |
torch.randn_like(input, *, dtype=None, device=None, requires_grad=False) | |
torch.randperm(n, *, dtype=None, device=None) | |
torch.tensor(input|data, *, dtype=None, device=None, requires_grad=False) | | scalar_tensor
torch.tril_indices(row, col, offset=0, *, dtype=None, device=None) | |
torch.triu_indices(row, col, offset=0, *, dtype=None, device=None) | |
torch.zeros(*size, dtype=None, device=None, requires_grad=False) | |
torch.zeros_like(input, *, dtype=None, device=None, requires_grad=False) | |
"""
