"""Operators that bring many elements together: sums, extremes, normalisations, losses."""

from gradstudio.advice.derivatives.rule_rows import COMPOSITION, SPREAD, TableRow, general

N = "n elements are averaged; n = 1 for reduction “sum” and “none”"

REDUCTIONS = (
    general("sum nansum", "Σᵢ $aᵢ", "sum", ("a", "1 for every element", f"grad{SPREAD}")),
    general("mean nanmean", "Σᵢ $aᵢ / n", "mean", ("a", "1 / n for every element", f"grad / n{SPREAD}", "1 / n")),
    general(
        "prod torch.prod:dim", "Πᵢ $aᵢ", "prod", ("a", "y / $aᵢ", "grad · y / $a (the other factors, where $a is 0)")
    ),
    general(
        "max min",
        "the extreme element of $a",
        "max",
        ("a", "1 / k at the k elements equal to y, else 0", "grad / k where $a = y, else 0"),
    ),
    general(
        "torch.max:dim torch.Tensor.max:dim torch.min:dim torch.Tensor.min:dim "
        "torch.median:dim torch.mode torch.kthvalue cummax cummin",
        "$a at the indices found",
        "max.dim",
        ("a", "1 at the index found, else 0", "grad put at the indices found, 0 elsewhere"),
    ),
    general(
        "median",
        "the middle element of $a",
        "median",
        ("a", "1 at the element found", "grad where it was found, else 0"),
    ),
    general(
        "amax amin",
        "the extreme element of $a along $dim",
        "amax",
        ("a", "1 / k at the k elements equal to y, else 0", "grad / k where $a = y, else 0"),
    ),
    general(
        "var",
        "Σᵢ ($aᵢ − mean)² / (n − $correction)",
        "var.correction",
        ("a", "2 · ($aᵢ − mean) / (n − $correction)", "grad · 2 · ($a − mean) / (n − $correction)"),
    ),
    general(
        "std",
        "√(Σᵢ ($aᵢ − mean)² / (n − $correction))",
        "std.correction",
        ("a", "($aᵢ − mean) / (y · (n − $correction))", "grad · ($a − mean) / (y · (n − $correction)), 0 where y = 0"),
    ),
    general(
        "norm torch.linalg.norm torch.linalg.vector_norm",
        "‖$a‖ₚ",
        "linalg_vector_norm",
        (
            "a",
            "sign($aᵢ) · (|$aᵢ| / y)^(p − 1); for p = 2: $aᵢ / y",
            "grad · sign($a) · (|$a| / y)^(p − 1), 0 where y = 0",
        ),
    ),
    general(
        "dist",
        "‖$a − $b‖ₚ",
        "dist",
        ("a", "($aᵢ − $bᵢ) / y for p = 2", "grad · ($a − $b) / y for p = 2"),
        ("b", "($bᵢ − $aᵢ) / y for p = 2", "minus the gradient of $a"),
    ),
    general("logsumexp", "ln Σᵢ e^$aᵢ", "logsumexp", ("a", "e^($aᵢ − y), the softmax of $a", "grad · e^($a − y)")),
    general(
        "cumsum",
        "yⱼ = Σᵢ≤ⱼ $aᵢ",
        "cumsum",
        ("a", "∂yⱼ/∂$aᵢ = 1 for i ≤ j", "the sum of grad from each place to the end"),
    ),
    general(
        "cumprod",
        "yⱼ = Πᵢ≤ⱼ $aᵢ",
        "cumprod",
        ("a", "∂yⱼ/∂$aᵢ = yⱼ / $aᵢ for i ≤ j", "the sum of grad · y from each place to the end, divided by $a"),
    ),
    general(
        "logcumsumexp",
        "yⱼ = ln Σᵢ≤ⱼ e^$aᵢ",
        "logcumsumexp",
        ("a", "∂yⱼ/∂$aᵢ = e^($aᵢ − yⱼ) for i ≤ j", "Σⱼ≥ᵢ gradⱼ · e^($aᵢ − yⱼ)"),
    ),
    general(
        "sort topk",
        "$a in order, and the indices",
        "sort",
        ("a", "1 where an element went, else 0", "grad put back at the indices, 0 elsewhere"),
    ),
    general(
        "diff",
        "$aᵢ₊₁ − $aᵢ",
        COMPOSITION,
        ("a", "1 for the later, −1 for the earlier", "the difference of neighbouring grads, negated"),
    ),
)

NORMALISATIONS = (
    general(
        "softmax",
        "e^$aᵢ / Σⱼ e^$aⱼ",
        "_softmax",
        ("a", "∂yᵢ/∂$aⱼ = yᵢ · (1 − yᵢ) for i = j, else −yᵢ · yⱼ", "y · (grad − Σⱼ gradⱼ · yⱼ) along $dim"),
    ),
    general(
        "softmin",
        "e^(−$aᵢ) / Σⱼ e^(−$aⱼ)",
        COMPOSITION,
        ("a", "∂yᵢ/∂$aⱼ = −yᵢ · (1 − yᵢ) for i = j, else yᵢ · yⱼ", "−y · (grad − Σⱼ gradⱼ · yⱼ) along $dim"),
    ),
    general(
        "log_softmax",
        "$aᵢ − ln Σⱼ e^$aⱼ",
        "_log_softmax",
        ("a", "∂yᵢ/∂$aⱼ = (1 for i = j, else 0) − e^yⱼ", "grad − e^y · Σⱼ gradⱼ along $dim"),
    ),
    general(
        "layer_norm",
        "x̂ · $weight + $bias, x̂ = ($a − mean) / s, s = √(var + $eps)",
        "native_layer_norm",
        (
            "a",
            "($weightᵢ / s) · (1 for i = j, else 0, − 1/n − x̂ᵢ · x̂ⱼ / n)",
            "(g − mean(g) − x̂ · mean(g · x̂)) / s with g = grad · $weight",
        ),
        ("weight", "x̂", "grad · x̂, summed over all but the normalised dimensions"),
        ("bias", "1", "grad, summed over all but the normalised dimensions"),
    ),
    general(
        "rms_norm",
        "$a / r · $weight, r = √(mean($a²) + $eps)",
        "_fused_rms_norm",
        (
            "a",
            "($weightᵢ / r) · (1 for i = j, else 0, − $aᵢ · $aⱼ / (n · r²))",
            "(g − x̂ · mean(g · x̂)) / r with g = grad · $weight, x̂ = $a / r",
        ),
        ("weight", "$a / r", "grad · $a / r, summed over all but the normalised dimensions"),
    ),
    general(
        "batch_norm group_norm instance_norm",
        "x̂ · $weight + $bias, x̂ = ($a − mean) / √(var + $eps)",
        "native_batch_norm",
        (
            "a",
            "as layer_norm, with mean and var of the batch (constants in eval mode)",
            "(g − mean(g) − x̂ · mean(g · x̂)) / √(var + $eps), g = grad · $weight",
        ),
        ("weight", "x̂", "grad · x̂, summed per channel"),
        ("bias", "1", "grad, summed per channel"),
    ),
    general(
        "torch.nn.functional.normalize",
        "$a / ‖$a‖",
        COMPOSITION,
        ("a", "(1 for i = j, else 0, − yᵢ · yⱼ) / ‖$a‖", "(grad − y · Σⱼ gradⱼ · yⱼ) / ‖$a‖"),
    ),
    general(
        "cosine_similarity",
        "$a · $b / (‖$a‖ · ‖$b‖)",
        COMPOSITION,
        ("a", "($b / ‖$b‖ − y · $a / ‖$a‖) / ‖$a‖", "grad · ($b / ‖$b‖ − y · $a / ‖$a‖) / ‖$a‖"),
        ("b", "($a / ‖$a‖ − y · $b / ‖$b‖) / ‖$b‖", "grad · ($a / ‖$a‖ − y · $b / ‖$b‖) / ‖$b‖"),
    ),
)

LOSSES = (
    general(
        "mse_loss",
        f"($a − $b)², averaged. {N}",
        "mse_loss",
        ("a", "2 · ($a − $b) / n", "grad · 2 · ($a − $b) / n", "2 * (a - b) / n"),
        ("b", "−2 · ($a − $b) / n", "minus the gradient of $a", "-2 * (a - b) / n"),
    ),
    general(
        "l1_loss",
        f"|$a − $b|, averaged. {N}",
        COMPOSITION,
        ("a", "sign($a − $b) / n", "grad · sign($a − $b) / n", "sign(a - b) / n"),
        ("b", "−sign($a − $b) / n", "minus the gradient of $a", "-sign(a - b) / n"),
    ),
    general(
        "smooth_l1_loss",
        f"½ d² / $beta where |d| < $beta, else |d| − ½ $beta, d = $a − $b. {N}",
        "smooth_l1_loss",
        (
            "a",
            "(d / $beta where |d| < $beta, else sign d) / n, d = $a − $b",
            "grad · (d / $beta where |d| < $beta, else sign d) / n",
            "where(abs(a - b) < beta, (a - b) / beta, sign(a - b)) / n",
        ),
        (
            "b",
            "minus ∂y/∂$a",
            "minus the gradient of $a",
            "-where(abs(a - b) < beta, (a - b) / beta, sign(a - b)) / n",
        ),
    ),
    general(
        "huber_loss",
        f"½ d² where |d| < $delta, else $delta · (|d| − ½ $delta), d = $a − $b. {N}",
        "huber_loss",
        (
            "a",
            "(d where |d| < $delta, else $delta · sign d) / n, d = $a − $b",
            "grad · (d where |d| < $delta, else $delta · sign d) / n",
            "where(abs(a - b) < delta, a - b, delta * sign(a - b)) / n",
        ),
        (
            "b",
            "minus ∂y/∂$a",
            "minus the gradient of $a",
            "-where(abs(a - b) < delta, a - b, delta * sign(a - b)) / n",
        ),
    ),
    general(
        "binary_cross_entropy torch.nn.BCELoss",
        f"−$b · ln $a − (1 − $b) · ln(1 − $a), averaged. {N}",
        "binary_cross_entropy",
        (
            "a",
            "($a − $b) / ($a · (1 − $a)) / n",
            "grad · ($a − $b) / ($a · (1 − $a)) / n",
            "(a - b) / (a * (1 - a)) / n",
        ),
        ("b", "(ln(1 − $a) − ln $a) / n", "grad · (ln(1 − $a) − ln $a) / n", "(log(1 - a) - log(a)) / n"),
    ),
    general(
        "binary_cross_entropy_with_logits",
        f"ln(1 + e^$a) − $a · $b, averaged. {N}",
        "binary_cross_entropy_with_logits",
        ("a", "(σ($a) − $b) / n", "grad · (σ($a) − $b) / n", "(sigmoid(a) - b) / n"),
        ("b", "−$a / n", "−grad · $a / n", "-a / n"),
    ),
    general(
        "cross_entropy",
        "−log_softmax($a) at the class $b, averaged over n samples",
        COMPOSITION,
        ("a", "(softmax($a)ⱼ − (1 at the class $b, else 0)) / n", "grad · (softmax($a) − one_hot($b)) / n"),
    ),
    general(
        "nll_loss",
        "−$a at the class $b, averaged over n samples",
        "nll_loss_forward",
        ("a", "−1 / n at the class $b, else 0", "−grad / n at the class $b, else 0"),
    ),
    general(
        "kl_div",
        "$b · (ln $b − $a), averaged",
        COMPOSITION,
        ("a", "−$b / n", "−grad · $b / n", "-b / n"),
        ("b", "(ln $b + 1 − $a) / n", "grad · (ln $b + 1 − $a) / n", "(log(b) + 1 - a) / n"),
    ),
    general(
        "soft_margin_loss",
        "ln(1 + e^(−$b · $a)), averaged",
        "soft_margin_loss",
        ("a", "−$b · σ(−$b · $a) / n", "−grad · $b · σ(−$b · $a) / n", "-b * sigmoid(-b * a) / n"),
    ),
    general(
        "hinge_embedding_loss",
        "$a where $b = 1, max(0, $margin − $a) where $b = −1, averaged",
        COMPOSITION,
        (
            "a",
            "(1 where $b = 1, −1 where $b = −1 and $a < $margin, else 0) / n",
            "grad · ∂y/∂$a",
            "where(b > 0, 1.0, where(a < margin, -1.0, 0.0)) / n",
        ),
    ),
    general(
        "margin_ranking_loss",
        "max(0, −$c · ($a − $b) + $margin), averaged",
        COMPOSITION,
        ("a", "−$c / n where the loss is positive, else 0", "−grad · $c / n where the loss is positive, else 0"),
        ("b", "$c / n where the loss is positive, else 0", "grad · $c / n where the loss is positive, else 0"),
    ),
    general(
        "poisson_nll_loss",
        f"e^$a − $b · $a, averaged. {N}",
        COMPOSITION,
        ("a", "(e^$a − $b) / n", "grad · (e^$a − $b) / n", "(exp(a) - b) / n"),
        ("b", "−$a / n", "−grad · $a / n", "-a / n"),
    ),
)

ROWS: tuple[TableRow, ...] = (*REDUCTIONS, *NORMALISATIONS, *LOSSES)
