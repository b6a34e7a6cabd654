import numpy as np
a = np.loadtxt("data.csv")  # refused: nothing that a canvas has
