import torch
m = __import__("os")  # refused: __import__
