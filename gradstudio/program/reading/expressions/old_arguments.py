"""Arguments of losses that torch still takes and the catalogue has not: `size_average` and `reduce`."""

import ast

from gradstudio.program.reading.desugar.synthetic_nodes import at_position

LOSSES = frozenset(
    {f"torch.nn.{name}Loss" for name in (
        "L1 NLL PoissonNLL KLDiv MSE BCE BCEWithLogits HingeEmbedding MultiLabelMargin SmoothL1 SoftMargin "
        "CrossEntropy MultiLabelSoftMargin CosineEmbedding MarginRanking MultiMargin TripletMargin"
    ).split()}
    | {f"torch.nn.functional.{name}" for name in (
        "nll_loss poisson_nll_loss kl_div cross_entropy binary_cross_entropy binary_cross_entropy_with_logits "
        "smooth_l1_loss l1_loss mse_loss margin_ranking_loss hinge_embedding_loss multilabel_margin_loss "
        "soft_margin_loss multilabel_soft_margin_loss cosine_embedding_loss multi_margin_loss triplet_margin_loss"
    ).split()}
)  # fmt: skip
"""What takes them."""
OLD = ("size_average", "reduce")


def say_reduction(call: ast.Call, path: str) -> None:
    """`nn.MSELoss(size_average=False)` is `nn.MSELoss(reduction="sum")`, by the rule of `torch.nn._reduction`.

    Where the text does not say what they are it is left as it is.
    """
    old = {word.arg: word.value for word in call.keywords if word.arg in OLD}
    if not old or path not in LOSSES:
        return
    if any(not isinstance(value, ast.Constant) or value.value not in (True, False, None) for value in old.values()):
        return
    said = {word: value.value for word, value in old.items() if isinstance(value, ast.Constant)}
    rest = [word for word in call.keywords if word.arg not in OLD]
    average, reduce = said.get("size_average"), said.get("reduce")
    if average is None and reduce is None:
        call.keywords = rest
        return
    if reduce is not None and not reduce:
        chosen = "none"
    else:
        chosen = "mean" if average is None or average else "sum"
    where = next(iter(old.values()))
    value = at_position(ast.Constant(chosen), where)
    call.keywords = [*(word for word in rest if word.arg != "reduction"), ast.keyword("reduction", value)]
