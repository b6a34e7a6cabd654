"""torch's names that may stand in a literal: dtypes, devices, layouts, attributes. Data only."""

import re

DTYPES = frozenset(
    "float32 float float64 double float16 half bfloat16 complex32 chalf complex64 cfloat complex128 cdouble "
    "uint8 uint16 uint32 uint64 int8 int16 short int32 int int64 long bool "
    "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz".split()
)

DEVICE_TYPES = frozenset("cpu cuda mps xpu meta hpu mtia xla vulkan".split())

LAYOUTS = frozenset("strided sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc jagged".split())

MEMORY_FORMATS = frozenset("contiguous_format preserve_format channels_last channels_last_3d".split())

ATTRIBUTES = re.compile(
    r"weight(_(ih|hh|hr)(_l\d{1,3}(_reverse)?)?)?|bias(_(ih|hh)(_l\d{1,3}(_reverse)?)?|_k|_v)?"
    r"|[qkv]_proj_weight|in_proj_weight|in_proj_bias|out_proj|self_attn|multihead_attn|linear\d?|norm\d?|dropout\d?"
    r"|layers|encoder|decoder|running_mean|running_var|num_batches_tracked|training"
    r"|in_features|out_features|in_channels|out_channels|num_features|num_embeddings|embedding_dim|padding_idx"
    r"|hidden_size|input_size|num_layers|num_heads|head_dim|embed_dim|kernel_size|stride|padding|dilation|groups"
    r"|eps|momentum|normalized_shape|p|inplace|reduction"
    r"|T|mT|H|mH|shape|dtype|device|grad|grad_fn|data|requires_grad|is_leaf|ndim|real|imag|itemsize|nbytes|layout"
)
"""Attributes that may be read and written (SEMANTICS 1): a fixed list, so no text reaches a method."""
