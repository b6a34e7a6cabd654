import numpy as np
a = np.vectorize(abs)  # refused: not bound
