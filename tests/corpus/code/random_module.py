import math
import random

import numpy as np
import torch

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
r = random.random()
choice = random.choice(["a", "b", "c"])
order = random.sample(range(5), 3)
a = np.random.rand(2)
x = torch.from_numpy(a) * r
s = math.sqrt(16) + math.pi
print(round(r, 4), choice, order)
