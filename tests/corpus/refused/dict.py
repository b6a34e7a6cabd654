import torch

first = {"lr": 0.1}
config = {**first, "hidden": 8}  # refused: write the entries out
