"""In which category of the library a generated row stands: the first rule that fits."""

import re

import msgspec

from gradstudio import paths

ORDER: tuple[str, ...] = tuple(msgspec.json.decode((paths.resources() / "categories.json").read_bytes()))
"""As the library shows them."""

_RULES: tuple[tuple[str, str], ...] = (
    (r"torch\.(optim\.lr_scheduler|optim\.swa_utils)\.", "Learning rate schedules"),
    (r"torch\.optim\.", "Optimizers"),
    (r"torch\.nn\.init\.", "Initialisation"),
    (r"torch\.nn\.utils\.rnn\.", "Network functions"),
    (r"torch\.nn\.utils\.", "Module utilities"),
    (r"torch\.nn\.(Sequential|Module\w+|Parameter\w+)$", "Containers"),
    (r"torch\.nn\.\w*Loss\w*$|torch\.(nn\.functional\.)?(\w+_loss|kl_div|\w*cross_entropy\w*)$", "Losses"),
    (
        r"torch\.nn\.(functional\.)?(Lazy)?(\w*(ReLU|ELU|Sigmoid|Tanh|hardtanh|elu_?|hardswish|sigmoid|tanh|relu_?|"
        r"[sS]oft(max|min|sign|plus|shrink)|Softmax2d|GLU|[Hh]ardshrink|Hardswish|[Tt]hreshold_?|[Tt]anhshrink|softmin))$",
        "Activations",
    ),
    (r"torch\.nn\.[A-Z]", "Layers"),
    (r"torch\.nn\.functional\.", "Network functions"),
    (r"torch\.masked\.", "Masked tensors"),
    (r"torch\.sparse\.|.*\.(\w*sparse\w*|c?(col|row|crow|ccol)_indices|coalesce|is_coalesced)$", "Sparse tensors"),
    (r".*\.(indices|values|dense_dim|to_dense|to_padded_tensor|is_nested)$", "Sparse tensors"),
    (r"torch\.special\.(softmax|log_softmax|logsumexp)$", "Reductions"),
    (r"torch\.special\.", "Special functions"),
    (r"torch\.(fft|signal)\.|.*\.(i?stft|\w+_window)$", "Fourier and signals"),
    (r"torch\.linalg\.", "Linear algebra"),
    (r"torch\.(Tensor\.)?\w+_copy$", "Copies of views"),
    (r"torch\.Tensor\.(long|int|short|char|byte|bool|bfloat16|type|to\w*|cpu|cuda)$", "Casting and moving"),
    (r"torch\.Tensor\.c?(half|float|double)$", "Casting and moving"),
    (r"torch\.Generator|.*\.(normal|bernoulli|binomial|multinomial|poisson|rand\w*|\w*rng_state|\w*seed)$", "Random"),
    (r".*[a-z0-9]_$", "In-place"),
    (r"torch\.(autograd|enable_grad)|.*\.(retains_grad|detach|is_(inference|grad|leaf)\w*)$", "Autograd"),
    (r".*\.(is_\w+|can_cast|promote_types|result_type|get_default_dtype|broadcast_shapes)$", "Properties"),
    (r".*\.(numel|nelement|ndimension|storage_offset|get_device|layout)$", "Properties"),
    (
        r".*\.(asarray|range|empty\w*|new_\w+|scalar_tensor|tril_indices|triu_indices|diagflat|combinations|fill)$",
        "Creation",
    ),
    (
        r"torch\.(adaptive|avg_pool|max_pool|batch_norm|bilinear|conv|dropout|embedding|feature|group_norm|gru|lstm|rnn|"
        r"instance_norm|layer_norm|rms_norm|native|pixel|channel|alpha_dropout|cosine_sim|pairwise|norm_except|pdist)\w*",
        "Network functions",
    ),
    (r".*\.(celu|selu|prelu|rrelu|hardshrink|threshold|sigmoid|relu|softmax|log_softmax)$", "Activations"),
    (
        r".*\.(eq|ne|lt|le|gt|ge|greater\w*|less\w*|not_equal|equal|allclose|is\w+|logical_\w+|bitwise_\w+|signbit|"
        r"maximum|minimum|f(max|min))$",
        "Comparison and logic",
    ),
    (
        r".*\.(matmul|mm|bmm|mv|v?dot|inner|outer|ger|add(bmm|mm|mv|r)|baddbmm|chain_matmul|kron|cross|cholesky\w*|lu\w*|qr|"
        r"svd\w*|pca_lowrank|lobpcg|det|logdet|slogdet|p?inverse|triangular_solve|or[gm]qr|geqrf|matrix_\w+|trace|cdist|"
        r"tensordot|einsum|norm|nuclear_norm|frobenius_norm|renorm|dist)$",
        "Linear algebra",
    ),
    (
        r".*\.(sum|nansum|mean|nanmean|nanmedian|median|mode|prod|std\w*|var\w*|max|min|a(max|min|minmax)|arg(max|min|sort)|"
        r"all|any|cum\w+|logcumsumexp|logsumexp|count_nonzero|hist\w+|bincount|unique\w*|m?sort|topk|kthvalue|\w*quantile|"
        r"diff|cov|corrcoef|trapz|trapezoid|gradient|bucketize|searchsorted|sum_to_size|segment_reduce|hash_tensor)$",
        "Reductions",
    ),
    (
        r".*\.(index\w*|\w*scatter\w*|gather|take\w*|put|select\w*|masked_\w+|where|argwhere|nonzero\w*|narrow\w*|tril|triu|"
        r"diagonal\w*|diag\w*|slice\w*|unravel_index)$",
        "Indexing",
    ),
    (
        r".*\.(\w*stack|conc?at\w*|\w*split\w*|\w*chunk|squeeze|unsqueeze|\w*flatten|ravel|reshape\w*|view\w*|expand\w*|"
        r"swap\w+|move(dim|axis)|transpose|t|T|H|mT|mH|adjoint|permute|flip\w*|roll|rot90|repeat\w*|tile|broadcast\w+|unbind|"
        r"unfold|atleast_\w+|as_strided|resize\w*|sum_to_size|positive|resolve_\w+|real|imag|meshgrid|cartesian_prod|contiguous|clone|fli\w+)$",
        "Shape",
    ),
    (
        r".*\.(add\w*|sub\w*|mul\w*|div\w*|true_divide|floor_divide|remainder|fmod|neg\w*|rsub|pow|float_power|lerp|square|"
        r"reciprocal|lcm|gcd|ldexp|copysign|nextafter)$",
        "Arithmetic",
    ),
    (r".*\.(data|dtype|device|shape|itemsize|nbytes|size|stride|dim|ndim)$", "Properties"),
    (r".*\.(i0|igamma\w*|polygamma|mvlgamma|lgamma|digamma|erf\w*|sinc|xlogy|logit)$", "Special functions"),
    (r"torch\.(Tensor\.)?\w+$", "Math functions"),
)  # fmt: skip
_COMPILED = tuple((re.compile(pattern), name) for pattern, name in _RULES)


def category(path: str) -> str:
    """The category of a path.

    Raises:
        ValueError: no rule says.
    """
    found = next((name for pattern, name in _COMPILED if pattern.match(path)), None)
    if found is None:
        raise ValueError(f"no category for {path}")
    return found
