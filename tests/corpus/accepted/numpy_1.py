import numpy as np
import torch

t = torch.ones(5)
print(f"t: {t}")
n = t.numpy()
print(f"n: {n}")
t.add_(1)
print(f"t: {t}")
print(f"n: {n}")
n = np.ones(5)
t = torch.from_numpy(n)
np.add(n, 1, out=n)
print(f"t: {t}")
m = np.array([[1.0, 2.0], [3.0, 4.0]])
t2 = torch.as_tensor(m)
t3 = torch.tensor(m, dtype=torch.float32)
m[0, 0] = 10
back = t3.numpy().sum()
