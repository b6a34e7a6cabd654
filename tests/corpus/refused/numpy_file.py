import numpy as np
a = np.ones(3)
np.save("a.npy", a)  # refused: writes no files
