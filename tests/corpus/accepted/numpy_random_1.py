import numpy as np
import torch

np.random.seed(7)
points = np.random.randn(6, 2)
labels = np.random.randint(0, 3, size=6)
noise = np.random.normal(0.0, 0.1, points.shape)
even = np.random.uniform(-1, 1, (2, 2))
order = np.random.permutation(6)
np.random.shuffle(labels)
picked = np.random.choice(np.arange(6), size=3, replace=False)
rng = np.random.default_rng(3)
a = rng.normal(size=(2, 3))
b = rng.integers(0, 9, size=4)
c = rng.random(3)
old = np.random.RandomState(1)
d = old.rand(2)
e = old.randn(2, 2)
points += noise
points = points[order]
batch = torch.tensor(points[:4], dtype=torch.float32)
targets = torch.from_numpy(labels[:4])
hot = np.eye(3)[labels]
center = points.mean(axis=0)
spread = points.std(axis=0, ddof=1)
