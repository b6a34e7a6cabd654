from torch import *  # refused: does not say which names
x = ones(2)
