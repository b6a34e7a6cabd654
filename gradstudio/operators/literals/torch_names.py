"""torch's names that may stand in a literal: dtypes, devices, layouts, attributes. Data only."""

from gradstudio.late_pattern import late

DTYPES = frozenset(
    "float32 float float64 double float16 half bfloat16 complex32 chalf complex64 cfloat complex128 cdouble "
    "uint8 uint16 uint32 uint64 int8 int16 short int32 int int64 long bool "
    "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz".split()
)

DTYPE_ALIASES = {
    **{f"{short}{bits}": f"{name}{bits}" for short, name in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)},
    **{f"{short}{bits}": f"float{bits}" for short in ("f", "fp") for bits in (16, 32, 64)},
    **dict.fromkeys(("single", "floattensor"), "float32"),
    **dict.fromkeys(("float_", "doubletensor"), "float64"),
    **dict.fromkeys(("bf16", "b16"), "bfloat16"),
    **dict.fromkeys(("c64", "complex"), "complex64"),
    "c128": "complex128",
    **dict.fromkeys(("int_", "integer", "longlong", "longtensor"), "int64"),
    "intc": "int32",
    "char": "int8",
    **dict.fromkeys(("byte", "ubyte"), "uint8"),
    **dict.fromkeys(("bool_", "boolean"), "bool"),
}
"""Other words for a dtype: of numpy, of other languages, of people."""

DEVICE_TYPES = frozenset("cpu cuda mps xpu meta hpu mtia xla vulkan".split())

LAYOUTS = frozenset("strided sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc jagged".split())

MEMORY_FORMATS = frozenset("contiguous_format preserve_format channels_last channels_last_3d".split())

ATTRIBUTE = late(r"[^\W\d_]\w*")
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
"""What a module has beside parameters and modules: methods, which are no values (semantics §1)."""
