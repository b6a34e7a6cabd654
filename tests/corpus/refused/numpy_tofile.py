import numpy as np
a = np.ones(3)
b = a.sum()
a.tofile("a.bin")  # refused: no method that a canvas has
