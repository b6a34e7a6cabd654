import numpy as np
a = np.vectorize(abs)  # refused: 'numpy.vectorize' is nothing that a canvas has
