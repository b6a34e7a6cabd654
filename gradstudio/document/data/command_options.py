"""The options of `gradstudio import` that are for data; every command asks for them, so they load no reader."""

import argparse


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """The options of `import` that are for data."""
    group = parser.add_argument_group("data (FILE.csv, .tsv, .npy, .npz, .txt, .parquet); --seed is of the split")
    group.add_argument("--columns", metavar="NAME,NAME", help="inputs (default: what varies, and is no text)")
    group.add_argument("--target", metavar="NAME", help='default: what is called like one; "" for none')
    group.add_argument("--number", action="store_true", help="the target is a number, not a class")
    group.add_argument("--fill", action="store_true", help="fill what is missing, instead of leaving its row out")
    group.add_argument("--normalise", action="store_true", help="with statements that do it")
    words = "so much of the rows is kept to validate, 0 … 0.9 (default: 0.2)"
    group.add_argument("--validation", type=float, default=0.2, metavar="SHARE", help=words)
    words = "of a text: the next character is told from so many (default: 8)"
    group.add_argument("--window", type=int, metavar="N", help=words)
