from math import *

import torch

x = torch.tensor(pi)
y = sqrt(16.0) + floor(2.7)
print(x, y)
