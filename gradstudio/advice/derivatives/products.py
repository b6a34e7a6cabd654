"""Products of matrices, layers made of them, and linear algebra; ᵀ swaps the last two dimensions."""

from gradstudio.advice.derivatives.rule_rows import COMPOSITION, TableRow, general

PRODUCTS = (
    general(
        "operator.matmul operator.imatmul matmul",
        "$a @ $b",
        "matmul",
        ("a", "∂yᵢⱼ/∂$aᵢₖ = $bₖⱼ", "grad @ $bᵀ, summed over broadcast dimensions"),
        ("b", "∂yᵢⱼ/∂$bₖⱼ = $aᵢₖ", "$aᵀ @ grad, summed over broadcast dimensions"),
    ),
    general("mm", "$a @ $b", "mm", ("a", "∂yᵢⱼ/∂$aᵢₖ = $bₖⱼ", "grad @ $bᵀ"), ("b", "∂yᵢⱼ/∂$bₖⱼ = $aᵢₖ", "$aᵀ @ grad")),
    general(
        "bmm",
        "$a @ $b for each of the batch",
        "bmm",
        ("a", "∂yᵢⱼ/∂$aᵢₖ = $bₖⱼ", "grad @ $bᵀ"),
        ("b", "∂yᵢⱼ/∂$bₖⱼ = $aᵢₖ", "$aᵀ @ grad"),
    ),
    general("mv", "$a @ $b", "mv", ("a", "∂yᵢ/∂$aᵢₖ = $bₖ", "grad ⊗ $b"), ("b", "∂yᵢ/∂$bₖ = $aᵢₖ", "$aᵀ @ grad")),
    general("dot", "Σᵢ $aᵢ · $bᵢ", "dot", ("a", "$bᵢ", "grad · $b", "b"), ("b", "$aᵢ", "grad · $a", "a")),
    general(
        "inner",
        "$a · $b over the last dimension",
        COMPOSITION,
        ("a", "$b", "grad @ $b (the products of grad with $b)"),
        ("b", "$a", "gradᵀ @ $a (the products of grad with $a)"),
    ),
    general(
        "outer",
        "yᵢⱼ = $aᵢ · $bⱼ",
        COMPOSITION,
        ("a", "∂yᵢⱼ/∂$aᵢ = $bⱼ", "grad @ $b"),
        ("b", "∂yᵢⱼ/∂$bⱼ = $aᵢ", "gradᵀ @ $a"),
    ),
    general(
        "einsum",
        "the sum of products that the equation says",
        COMPOSITION,
        (
            "operands",
            "the product of the other operands",
            "einsum of grad with the other operands, its letters to those of this operand",
        ),
    ),
    general(
        "addmm",
        "$beta · $a + $alpha · ($b @ $c)",
        "addmm",
        ("a", "$beta", "$beta · grad, summed over broadcast dimensions"),
        ("b", "$alpha · $c", "$alpha · grad @ $cᵀ"),
        ("c", "$alpha · $b", "$alpha · $bᵀ @ grad"),
    ),
    general(
        "addmv",
        "$beta · $a + $alpha · ($b @ $c)",
        "addmv",
        ("a", "$beta", "$beta · grad, summed over broadcast dimensions"),
        ("b", "$alpha · $c", "$alpha · grad ⊗ $c"),
        ("c", "$alpha · $b", "$alpha · $bᵀ @ grad"),
    ),
    general(
        "baddbmm",
        "$beta · $a + $alpha · ($b @ $c) for each of the batch",
        "baddbmm",
        ("a", "$beta", "$beta · grad, summed over broadcast dimensions"),
        ("b", "$alpha · $c", "$alpha · grad @ $cᵀ"),
        ("c", "$alpha · $b", "$alpha · $bᵀ @ grad"),
    ),
    general(
        "tensordot",
        "Σ $a · $b over the dimensions named",
        COMPOSITION,
        ("a", "$b", "tensordot of grad and $b over the dimensions $b brought"),
        ("b", "$a", "tensordot of $a and grad over the dimensions $a brought"),
    ),
    general(
        "kron",
        "each $a times the whole $b",
        COMPOSITION,
        ("a", "$b", "for each element of $a: the sum of its block of grad · $b"),
        ("b", "$a", "the sum of the blocks of grad, each times its $a"),
    ),
    general(
        "cross torch.linalg.cross",
        "$a × $b",
        "linalg_cross",
        ("a", "the matrix of v ↦ v × $b", "$b × grad"),
        ("b", "the matrix of v ↦ $a × v", "grad × $a"),
    ),
    general(
        "torch.nn.functional.linear",
        "$a @ $bᵀ + $bias",
        "linear",
        ("a", "∂yᵢⱼ/∂$aᵢₖ = $bⱼₖ", "grad @ $b"),
        ("b", "∂yᵢⱼ/∂$bⱼₖ = $aᵢₖ", "gradᵀ @ $a, summed over the batch"),
        ("bias", "1", "grad, summed over the batch"),
    ),
)

NETWORK = (
    general(
        "conv1d conv2d conv3d",
        "$a correlated with $weight, + $bias",
        "convolution",
        ("a", "the weights that an element of $a met", "grad convolved with $weight (a transposed convolution)"),
        ("weight", "the elements of $a that a weight met", "$a correlated with grad, summed over batch and places"),
        ("bias", "1 per channel", "grad, summed over batch and places"),
    ),
    general(
        "conv_transpose1d conv_transpose2d",
        "$a convolved with $weight, + $bias",
        "convolution",
        ("a", "the weights that an element of $a met", "grad correlated with $weight (a plain convolution)"),
        ("weight", "the elements of $a that a weight met", "grad correlated with $a, summed over batch and places"),
        ("bias", "1 per channel", "grad, summed over batch and places"),
    ),
    general(
        "max_pool1d max_pool2d adaptive_max_pool2d",
        "the largest of each window",
        "max_pool2d_with_indices",
        ("a", "1 at the element found in each window, else 0", "grad added where each largest was found, 0 elsewhere"),
    ),
    general(
        "avg_pool1d avg_pool2d adaptive_avg_pool2d",
        "the mean of each window",
        "avg_pool2d",
        ("a", "1 / (elements of the window)", "grad / (elements of the window), added to every element of it"),
    ),
    general(
        "dropout dropout2d",
        "$a · mask / (1 − $p)",
        "native_dropout",
        (
            "a",
            "1 / (1 − $p) where kept, 0 where dropped",
            "grad · mask / (1 − $p), the mask of the forward; grad in eval mode",
        ),
    ),
    general(
        "embedding",
        "the rows of $b at the indices $a",
        "embedding",
        (
            "b",
            "1 for the rows looked up, else 0",
            "grad added to the rows looked up (a row twice: the sum), 0 elsewhere",
        ),
    ),
    general(
        "scaled_dot_product_attention",
        "softmax($a @ $bᵀ / √d) @ $c",
        COMPOSITION,
        (
            "a",
            "through P = softmax(S), S = $a @ $bᵀ / √d",
            "gS @ $b / √d, gS = P · (gP − Σⱼ gPⱼ · Pⱼ), gP = grad @ $cᵀ",
        ),
        ("b", "through S, as $a", "gSᵀ @ $a / √d"),
        ("c", "P", "Pᵀ @ grad"),
    ),
    general(
        "glu",
        "p · σ(q), $a = (p, q) along $dim",
        "glu",
        (
            "a",
            "σ(q) for the first half; p · σ(q) · (1 − σ(q)) for the second",
            "grad · σ(q) and grad · p · σ(q) · (1 − σ(q)), side by side",
        ),
    ),
    general("pad", "$a with a margin", "constant_pad_nd", ("a", "1 for what is not margin", "grad without the margin")),
    general(
        "interpolate",
        "$a at other points",
        "upsample_bilinear2d",
        (
            "a",
            "the weight an element had at each point",
            "grad · weight, added to the elements each point was made from",
        ),
    ),
    general(
        "pixel_shuffle pixel_unshuffle",
        "the same elements in another order",
        "pixel_shuffle",
        ("a", "1 where an element went", "grad put back in the order of $a"),
    ),
)

LINEAR_ALGEBRA = (
    general("trace", "Σᵢ $aᵢᵢ", "trace", ("a", "1 on the diagonal, else 0", "grad · I")),
    general("det torch.linalg.det", "det $a", "_linalg_det", ("a", "y · ($a⁻¹)ᵀ", "grad · y · ($a⁻¹)ᵀ")),
    general("logdet", "ln det $a", COMPOSITION, ("a", "($a⁻¹)ᵀ", "grad · ($a⁻¹)ᵀ")),
    general(
        "torch.linalg.slogdet",
        "sign and ln |det $a|",
        "_linalg_slogdet",
        ("a", "($a⁻¹)ᵀ for logabsdet, 0 for sign", "grad · ($a⁻¹)ᵀ"),
    ),
    general("inverse torch.linalg.inv", "$a⁻¹", "linalg_inv_ex", ("a", "∂y = −y · ∂$a · y", "−yᵀ @ grad @ yᵀ")),
    general(
        "torch.linalg.pinv",
        "$a⁺",
        "linalg_pinv.atol_rtol_tensor",
        ("a", "∂y = −y · ∂$a · y + terms of the null spaces", "−yᵀ @ grad @ yᵀ + terms of the null spaces"),
    ),
    general(
        "torch.linalg.solve torch.linalg.solve_triangular",
        "$a⁻¹ @ $b",
        "_linalg_solve_ex",
        ("b", "$a⁻¹", "$a⁻ᵀ @ grad"),
        ("a", "∂y = −$a⁻¹ · ∂$a · y", "−($a⁻ᵀ @ grad) @ yᵀ"),
    ),
    general(
        "torch.linalg.cholesky",
        "L with L · Lᵀ = $a",
        "linalg_cholesky_ex",
        (
            "a",
            "∂L = L · Φ(L⁻¹ · ∂$a · L⁻ᵀ), Φ: lower triangle, half the diagonal",
            "L⁻ᵀ @ Φ(Lᵀ @ grad) @ L⁻¹, made symmetric",
        ),
    ),
    general(
        "torch.linalg.qr",
        "Q · R = $a",
        "linalg_qr",
        (
            "a",
            "through Qᵀ · Q = I and the triangle of R",
            "(grad_Q + Q · copyltu(M)) @ R⁻ᵀ, M = R · grad_Rᵀ − grad_Qᵀ · Q",
        ),
    ),
    general(
        "torch.linalg.svd torch.linalg.svdvals",
        "U · diag(S) · Vᵀ = $a",
        "_linalg_svd",
        ("a", "∂Sᵢ = uᵢᵀ · ∂$a · vᵢ", "U · diag(grad_S) · Vᵀ + terms of U and V (they divide by sᵢ² − sⱼ²)"),
    ),
    general(
        "torch.linalg.eigh torch.linalg.eigvalsh",
        "Q · diag(L) · Qᵀ = $a",
        "_linalg_eigh",
        ("a", "∂Lᵢ = qᵢᵀ · ∂$a · qᵢ", "Q · (diag(grad_L) + (Qᵀ · grad_Q) / (λⱼ − λᵢ)) · Qᵀ"),
    ),
    general(
        "torch.linalg.matrix_exp",
        "e^$a",
        "linalg_matrix_exp",
        ("a", "the Fréchet derivative of the exponential", "the upper right block of exp of [[$aᵀ, grad], [0, $aᵀ]]"),
    ),
    general(
        "torch.linalg.matrix_power",
        "$a · $a · … · $a",
        COMPOSITION,
        ("a", "Σₖ $aᵏ · ∂$a · $aⁿ⁻¹⁻ᵏ", "Σₖ ($aᵀ)ᵏ @ grad @ ($aᵀ)ⁿ⁻¹⁻ᵏ"),
    ),
    general(
        "cdist",
        "‖$aᵢ − $bⱼ‖ for every pair",
        "_cdist_forward",
        ("a", "($aᵢ − $bⱼ) / yᵢⱼ for p = 2", "Σⱼ gradᵢⱼ · ($aᵢ − $bⱼ) / yᵢⱼ for p = 2"),
        ("b", "($bⱼ − $aᵢ) / yᵢⱼ for p = 2", "Σᵢ gradᵢⱼ · ($bⱼ − $aᵢ) / yᵢⱼ for p = 2"),
    ),
)

ROWS: tuple[TableRow, ...] = (*PRODUCTS, *NETWORK, *LINEAR_ALGEBRA)
