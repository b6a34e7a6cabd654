"""Naming: what a class, its attributes and what stands outside are called, so that nothing hides anything else."""

import re

from gradstudio.graph.names import RESERVED, suggest

MODULE_ATTRIBUTES = frozenset(
    """
    T_destination _apply _backward_hooks _backward_pre_hooks _buffers _call_impl _compiled_call_impl _forward_hooks
    _forward_hooks_always_called _forward_hooks_with_kwargs _forward_pre_hooks _forward_pre_hooks_with_kwargs
    _get_backward_hooks _get_backward_pre_hooks _get_name _is_full_backward_hook _load_from_state_dict
    _load_state_dict_post_hooks _load_state_dict_pre_hooks _maybe_warn_non_full_backward_hook _modules
    _named_members _non_persistent_buffers_set _parameters _register_load_state_dict_pre_hook
    _register_state_dict_hook _replicate_for_data_parallel _save_to_state_dict _slow_forward _state_dict_hooks
    _state_dict_pre_hooks _version _wrapped_call_impl add_module apply bfloat16 buffers call_super_init children
    compile cpu cuda double dump_patches eval extra_repr float forward get_buffer get_extra_state get_parameter
    get_submodule half ipu load_state_dict modules mtia named_buffers named_children named_modules named_parameters
    parameters register_backward_hook register_buffer register_forward_hook register_forward_pre_hook
    register_full_backward_hook register_full_backward_pre_hook register_load_state_dict_post_hook
    register_load_state_dict_pre_hook register_module register_parameter register_state_dict_post_hook
    register_state_dict_pre_hook requires_grad_ set_extra_state set_submodule share_memory state_dict to to_empty
    train training type xpu zero_grad
    """.split()
)
"""What an `nn.Module` of torch 2.13 has already, names in two underscores aside."""
UNSAFE = frozenset({"self", "super"})
"""Names that a method needs itself."""


def class_name(stem: str, taken: set[str]) -> str:
    """A class's name from that of a file: ``07_digits perceptron`` gives ``DigitsPerceptron``."""
    words = [word for word in re.split(r"[\W_]+", suggest(stem)) if word]
    while len(words) > 1 and not words[0][0].isalpha():
        words.pop(0)
    if len(words) > 1 and re.fullmatch(r"x\d+", words[0]) and stem[:1].isdigit():
        words.pop(0)
    name = "".join(word[0].upper() + word[1:] for word in words)
    name = name if name.isidentifier() else "Network"
    if name in RESERVED or name in taken or name in ("None", "True", "False"):
        name = f"{name}Module"
    while name in taken:
        name += "_"
    return name


def attribute_name(name: str, taken: set[str]) -> str:
    """A name that is free upon a module: ``training`` becomes ``training_``; it is added to `taken`."""
    while name in taken or name in MODULE_ATTRIBUTES:
        name += "_"
    taken.add(name)
    return name


def snake(word: str) -> str:
    """A class's word as a variable: ``BatchNorm1d`` becomes ``batch_norm1d``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", word).lower()
