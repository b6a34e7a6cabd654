"""Where the cards of the shipped examples stand, as far as Tidy does not say it best."""

SMALL = 92.0
"""Room that the values of a scalar take on a card, pixels."""
VALUES = {
    "01_square_polynomial": dict.fromkeys(("x", "pow", "mul", "add", "y"), SMALL),
    "02_two_paths": dict.fromkeys(("x", "y", "z", "w", "loss"), SMALL),
}
COLUMN = 248.0
BY_HAND = {
    "02_two_paths": {
        "x": (0, 0),
        "y": (0, 264),
        "z": (288, 128),
        "w": (560, 24),
        "loss": (824, 24),
        "backward": (1088, 24),
    },
    "03_linear_regression": {
        "x": (0, 0),
        "w": (0, 320),
        "matmul": (280, 144),
        "b": (280, 576),
        "prediction": (544, 144),
        "target": (544, 416),
        "loss": (808, 144),
        "backward": (1072, 144),
        "grad": (1136, 384),
        "mul": (1384, 384),
        "isub": (1632, 320),
        "grad_2": (1136, 640),
        "mul_2": (1384, 640),
        "isub_2": (1632, 576),
        "note:no_grad": (1304, 208),
    },
    "05_detach_and_no_grad": {
        "x": (0, 520),
        "square": (296, 0),
        "frozen": (544, 72),
        "scale": (544, 320),
        "mul": (808, 0),
        "mul_2": (808, 496),
        "y": (1072, 232),
        "backward": (1320, 232),
    },
    "07_digits_perceptron": {
        **{item: (COLUMN * k, 480) for k, item in enumerate(("images", "to", "X", "matmul", "add", "hidden"))},
        **{item: (COLUMN * k, 480) for k, item in enumerate(("matmul_2", "logits"), 6)},
        **{item: (COLUMN * k, 728) for item, k in (("W1", 2), ("b1", 3), ("W2", 5), ("b2", 6))},
        **{item: (COLUMN * k, 216) for k, item in enumerate(("argmax", "eq", "float", "accuracy"), 2)},
        **{item: (COLUMN * k, 216) for k, item in enumerate(("loss", "backward"), 6)},
        **{item: (COLUMN * k, -24) for k, item in enumerate(("labels", "target"), 4)},
    },
    "08_attention_head": {
        "randn": (0, 272),
        "tokens": (COLUMN, 272),
        "W_q": (COLUMN, 0),
        "W_k": (COLUMN, 528),
        "W_v": (COLUMN, 784),
        "Q": (2 * COLUMN, 64),
        "K": (2 * COLUMN, 336),
        "V": (2 * COLUMN, 664),
        "T": (3 * COLUMN, 336),
        "d": (3 * COLUMN, 544),
        "matmul": (4 * COLUMN, 104),
        "pow": (4 * COLUMN, 440),
        "scores": (5 * COLUMN, 240),
        "attention": (6 * COLUMN, 248),
        "output": (7 * COLUMN, 600),
        "pow_2": (5 * COLUMN, 824),
        "loss": (6 * COLUMN, 824),
        "backward": (7 * COLUMN, 824),
    },
}
"""Where Tidy was helped: no wire passes behind a card, and long programs are folded so that they can be read."""
NOTE_PLACES = {
    "09_doubled_gradient": (0.0, -184.0, 360.0),
    "05_detach_and_no_grad": (0.0, 336.0, 232.0),
    "07_digits_perceptron": (0.0, 272.0, 460.0),
    "08_attention_head": (0.0, 56.0, 228.0),
}
"""Place and width of notes that do not stand above everything."""
