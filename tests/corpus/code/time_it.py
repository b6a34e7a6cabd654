import time

import torch

start = time.time()
x = torch.ones(100, 100)
y = x @ x
elapsed = time.time() - start
quick = elapsed < 60
fmt = "%.1f" % (elapsed * 0)
del elapsed, start
print(quick, fmt)
