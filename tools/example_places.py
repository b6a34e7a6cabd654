"""Where the cards of the shipped examples stand, as far as Tidy does not say it best."""

from gradstudio.graph.model import ChartKind

SMALL = 45.0
"""Room that the values of a scalar take on a card, pixels."""
VALUES = {
    "01_square_polynomial": dict.fromkeys(("x", "pow", "mul", "add", "y"), SMALL),
    "02_two_paths": dict.fromkeys(("x", "y", "z", "w", "loss"), SMALL),
}
CHARTS: dict[str, dict[str, ChartKind]] = {
    "17_momentum_and_adam": {"w": "path"},
    "18_why_normalise": {"w": "path"},
    "23_descent_in_a_bowl": {"w": "path"},
}
"""Charts of cards, by what these bind first."""
COLUMN = 248.0
BY_HAND = {
    "02_two_paths": {
        "x": (0, 0),
        "y": (0, 200),
        "z": (280, 96),
        "w": (520, 16),
        "loss": (760, 16),
        "backward": (1000, 16),
    },
    "03_linear_regression": {
        "x": (0, 0),
        "w": (0, 216),
        "matmul": (280, 96),
        "b": (280, 392),
        "prediction": (544, 96),
        "target": (544, 280),
        "loss": (808, 96),
        "backward": (1072, 96),
        "grad": (1136, 256),
        "mul": (1384, 256),
        "isub": (1632, 216),
        "grad_2": (1136, 432),
        "mul_2": (1384, 432),
        "isub_2": (1632, 392),
        "note:no_grad": (1304, 112),
    },
    "05_detach_and_no_grad": {
        "x": (0, 360),
        "square": (296, 0),
        "frozen": (544, 48),
        "scale": (544, 240),
        "mul": (808, 0),
        "mul_2": (808, 352),
        "y": (1072, 160),
        "backward": (1320, 160),
    },
    "07_digits_perceptron": {
        **{item: (COLUMN * k, 376) for k, item in enumerate(("images", "to", "X", "matmul", "add", "hidden"))},
        **{item: (COLUMN * k, 376) for k, item in enumerate(("matmul_2", "logits"), 6)},
        **{item: (COLUMN * k, 576) for item, k in (("W1", 2), ("b1", 3), ("W2", 5), ("b2", 6))},
        **{item: (COLUMN * k, 176) for k, item in enumerate(("argmax", "eq", "float", "accuracy"), 2)},
        **{item: (COLUMN * k, 176) for k, item in enumerate(("loss", "backward"), 6)},
        **{item: (COLUMN * k, 0) for k, item in enumerate(("labels", "target"), 4)},
    },
    "08_attention_head": {
        "randn": (0, 208),
        "tokens": (COLUMN, 208),
        "W_q": (COLUMN, 0),
        "W_k": (COLUMN, 408),
        "W_v": (COLUMN, 608),
        "Q": (2 * COLUMN, 48),
        "K": (2 * COLUMN, 264),
        "V": (2 * COLUMN, 480),
        "T": (3 * COLUMN, 264),
        "d": (3 * COLUMN, 424),
        "matmul": (4 * COLUMN, 80),
        "pow": (4 * COLUMN, 344),
        "scores": (5 * COLUMN, 184),
        "attention": (6 * COLUMN, 192),
        "output": (7 * COLUMN, 448),
        "pow_2": (5 * COLUMN, 608),
        "loss": (6 * COLUMN, 608),
        "backward": (7 * COLUMN, 608),
    },
    "23_descent_in_a_bowl": {"n1": (0, 0), "n2": (0, 424)},
    "17_momentum_and_adam": {"n1": (0, 0), "n2": (304, 456)},
    "18_why_normalise": {"n4": (304, -160)},
    "20_residual": {"n9": (1728, 152), "n10": (1992, 152), "n11": (2256, 152)},
}
"""Where Tidy was helped: no wire passes behind a card, and long programs are folded so that they can be read."""
NOTE_PLACES = {
    "09_doubled_gradient": (0.0, -136.0, 720.0),
    "05_detach_and_no_grad": (0.0, -112.0, 760.0),
    "07_digits_perceptron": (0.0, 24.0, 920.0),
    "08_attention_head": (0.0, -88.0, 800.0),
}
"""Place and width of notes that do not stand above everything."""
