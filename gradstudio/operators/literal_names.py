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

ATTRIBUTE = re.compile(r"[^\W\d_]\w*")
"""One part of the path to an attribute: a name that does not begin with an underscore."""

MODULE_METHODS = frozenset(
    "add_module apply bfloat16 buffers children compile cpu cuda double eval extra_repr float forward "
    "get_buffer get_extra_state get_parameter get_submodule half ipu load_state_dict modules mtia "
    "named_buffers named_children named_modules named_parameters parameters register_backward_hook "
    "register_buffer register_forward_hook register_forward_pre_hook register_full_backward_hook "
    "register_full_backward_pre_hook register_load_state_dict_post_hook register_load_state_dict_pre_hook "
    "register_module register_parameter register_state_dict_post_hook register_state_dict_pre_hook "
    "requires_grad_ set_extra_state set_submodule share_memory state_dict to to_empty train type xpu "
    "zero_grad".split()
)
"""What a module has beside parameters and modules: methods, which are no values (SEMANTICS 1)."""
