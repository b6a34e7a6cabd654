import functools  # refused: Write the calls and loops out
import torch


@functools.cache
def evaluate(x):
    return x * 2
