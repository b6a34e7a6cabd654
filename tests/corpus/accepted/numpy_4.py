import numpy as np
import torch
# d2l 2.1-2.2 like
x = torch.arange(12)
X = x.reshape(3, 4)
print(X.shape == (3, 4), x.size(0), X.ndim)
Y = torch.zeros((2, 3, 4))
n = np.array([[1, 2, 3], [4, 5, 6]])
print(n.shape[0], n.size, n.ndim, n.itemsize)
n2 = n[:, ::-1]
n3 = n > 2
print(n[n3])
b = np.broadcast_to(np.arange(3), (2, 3))
c = n + b
d = n.T @ n
inputs, targets = n[:, :2], n[:, 2]
t1, t2 = torch.tensor(inputs), torch.tensor(targets)
row_sums = n.sum(axis=1, keepdims=True)
norm = n / row_sums
print(norm.sum(1))
h, w = n.shape
area = h * w
print(f"{h}x{w} = {area}")
p = np.array([0.1, 0.2, 0.7])
ent = -(p * np.log(p)).sum()
ce = -np.log(p[2])
k = np.random.RandomState(0).permutation(5)
x1 = np.array([1., 2.], dtype='float32')
x2 = np.zeros((2,), dtype=float)
x3 = np.array([1, 2, 3], dtype=int)
x4 = np.array([True, False])
x5 = np.float32(1) + np.float32(2)
x6 = np.array(5)
x7 = np.asarray(torch.ones(2))

