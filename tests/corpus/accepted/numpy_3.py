import numpy as np
import torch
a = np.arange(6).reshape(2, 3)
print(a)
print(a.T.shape, a.sum(), a.sum(axis=1), a.max(axis=0))
t = torch.tensor(a)
f = torch.from_numpy(a.astype(np.float32))
m = a.mean(axis=0, keepdims=True)
b = np.array([[1.5, 2], [3, 5]])
c = np.linalg.solve(b, np.array([1.0, 2.0]))
vals, vecs = np.linalg.eigh(b @ b.T)
u, s, v = np.linalg.svd(b)
w = a[a > 2]
a[0, :] = -1
a[:, 1] += 10
np.random.seed(42)
X = np.random.uniform(-1, 1, size=(4, 2))
idx = np.random.permutation(len(X))
Xs = X[idx]
y = (X[:, 0] * X[:, 1] > 0).astype(int)
oh = np.eye(3)[[0, 2, 1]]
z = 1 / (1 + np.exp(-X))
l = -np.log(z).mean()
p = np.exp(X) / np.exp(X).sum(axis=1, keepdims=True)
am = p.argmax(axis=1)
acc = (am == y).mean()
e = np.einsum("ij,kj->ik", X, X)
o = np.outer(np.arange(3), np.arange(2))
x1 = np.linspace(0, 2 * np.pi, 5, dtype=np.float32)
x2 = torch.from_numpy(np.sin(x1))
tt = torch.tensor([1.0, 2.0])
mixed = np.array([3.0, 4.0]) + tt.numpy()
mt = tt * np.float64(2.0)
back = np.array(tt)
sc = np.float64(3.0)
sc2 = sc + 1
r = np.zeros_like(a)
r.fill(3)
cpy = a.copy()
cpy[0] = 0
same = np.shares_memory(a, cpy)
lst = np.array([1, 2, 3]).tolist()
st = np.std([1, 2, 3, 4])
hs = np.hstack([a, r])
vs = np.vstack((a, r))
sq = np.squeeze(np.ones((1, 3)))
cl = np.clip(a, 0, 5)
d, e2 = a.shape
n_samples = X.shape[0]
bs = n_samples // 2
xb = X[:bs]
mu, sd = X.mean(0), X.std(0)
Xn = (X - mu) / sd
nn_ = np.argmax(np.array([1, 3, 2]))
py = int(nn_)
un, ct = np.unique(np.array([1, 1, 2]), return_counts=True)
rng = np.random.default_rng(1)
q1 = rng.random((2, 2))
q2 = rng.choice([1, 2, 3], size=2)
q3 = rng.permutation(4)
tri = np.tril(np.ones((3, 3)))
inf = np.where(tri == 0, -np.inf, 0.0)
by = a.nbytes
sd2 = a.strides
i0 = a.dtype
al = (a > -5).all()
an = np.any(a > 100)
mm = np.matmul(b, b)
fl = a.flatten()[:3]
rv = a.ravel()
tr = a.transpose()
tr2 = np.transpose(a, (1, 0))
nz = np.nonzero(fl)
cs = np.cumsum(fl)
rd = np.round(X, 3)
ab = np.abs(X).max()
pw = np.power(a, 2)
