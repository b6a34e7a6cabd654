import numpy as np
a = np.loadtxt("data.csv")  # refused: loads no files
