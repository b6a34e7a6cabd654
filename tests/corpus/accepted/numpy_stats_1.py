import torch
import numpy as np
import math
n = 10000
a = torch.ones(n)
b = torch.ones(n)
c = torch.zeros(4)
x = np.arange(-7, 7, 0.01)
mu, sigma = 0, 1
p = 1 / math.sqrt(2 * math.pi * sigma**2)
pdf = p * np.exp(-0.5 / sigma**2 * (x - mu)**2)
print("shape: " + str(x.shape))
print("len", len(x), "of", n, sep=" ")
counts = np.bincount(np.array([0, 1, 1, 3]))
estimates = counts / counts.sum()
ok = abs(estimates.sum() - 1) < 1e-9
idx = np.argsort(np.array([3, 1, 2]))[::-1]
r = np.round(np.array([1.234, 5.678]), 2)
arr = np.array([1, 2, 3])
arr2 = arr[::-1].copy()
tt = torch.from_numpy(arr2)
arr2[0] = 100
zz = tt.tolist()
lst = arr.tolist() + [4]
m = np.array([[1.0, 2.0], [3.0, 4.0]])
col = m[:, 0]
row = m[1]
m[0, :] = 0
m[m > 3] = -1
v = m @ np.array([1.0, 1.0])
fl = np.float32(3.7)
i64 = np.int64(fl)
cond = "big" if n > 100 else "small"
msg = "n is {} and {:>8.3f}".format(n, p)
msg2 = "%5.2f|%-5s|%03d" % (p, "a", 7)
up = msg.upper().replace("IS", "was")
neg = -arr
sq = arr ** 2
md = arr % 2 == 0
both = (arr > 1) & (arr < 3)
mean, std = arr.mean(), arr.std()
nrm = (arr - mean) / std
