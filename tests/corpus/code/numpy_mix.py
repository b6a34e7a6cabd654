import numpy as np
import torch

rng = np.random.default_rng(0)
a = rng.normal(size=(3, 2)).astype(np.float32)
np.set_printoptions(precision=3)
x = torch.from_numpy(a)
b = np.array([[1, 2], [3, 4]])
c = np.vstack([b, b]).T
m = {"mean": float(a.mean()), "max": a.max().item()}
mean = m["mean"]
z = torch.as_tensor(c).float().mean()
print(c.shape, round(mean, 4))
