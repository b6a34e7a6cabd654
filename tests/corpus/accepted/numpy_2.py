import numpy as np
import torch
np.random.seed(0)
a = np.array([[1, 2], [3, 4]], dtype=np.float32)
b = np.ones((2, 2))
c = a @ b
d = np.sin(a) + np.cos(b) * 2
e = a.sum(axis=0)
f = a.mean()
g = a.T
h = a.shape
dt = a.dtype
n = np.ones(5)
t = torch.from_numpy(n)
np.add(n, 1, out=n)
print(f"t: {t}")
print(f"n: {n}")
n += 1
n[0] = 7
mask = n > 5
picked = n[mask]
r = np.random.rand(2, 3)
rn = np.random.randn(3)
ri = np.random.randint(0, 10, (2, 2))
rn2 = np.random.normal(0, 1, size=(2,))
pm = np.random.permutation(5)
st = np.stack([a, b])
cc = np.concatenate([a, b], axis=1)
rs = a.reshape(4)
rs2 = a.reshape(-1, 1)
rs3 = a.reshape((1, 4))
am = a.argmax()
am1 = a.argmax(axis=1)
ast = a.astype(np.int64)
tl = a.tolist()
it = a[0, 1].item()
nrm = np.linalg.norm(a)
inv = np.linalg.inv(a)
w = np.where(a > 2, a, 0)
un = np.unique(np.array([1, 2, 2]))
mx = np.maximum(a, 2)
eq = np.allclose(a, b)
ex = np.expand_dims(a, 0)
mg = np.meshgrid(np.arange(3), np.arange(2))
X, Y = np.meshgrid(np.arange(3), np.arange(2))
t2 = torch.tensor(a)
back = t2.numpy()
sz = a.size
nd = a.ndim
fl = a.flatten()
s1 = a.std()
rng = np.random.default_rng(0)
g1 = rng.normal(size=3)
g2 = rng.integers(0, 5, size=4)
print(a.shape, a.dtype, type(a))
li = np.linspace(0, 1, 5)
z = np.zeros((2, 3))
full = np.full((2, 2), 7.0)
eye = np.eye(3)
p1 = np.pi * 2
q = np.dot(a, b)
m = np.mean(a, axis=0, keepdims=True)
lg = np.log(a).sum()
