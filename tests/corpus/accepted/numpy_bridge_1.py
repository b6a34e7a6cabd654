import numpy as np
import torch

# an array and a tensor over one memory
t = torch.ones(5)
n = t.numpy()
t.add_(1)
seen = n.tolist()
np.multiply(n, 2, out=n)
same = t[0].item() == n[0]
m = np.ones(4, dtype=np.float64)
u = torch.from_numpy(m)
np.add(m, 1, out=m)
m += 0.5
m[1] = -3
copied = torch.tensor(m)
m[2] = 9
kind, kind_of_tensor = m.dtype, u.dtype
back = u.numpy()
shared = np.shares_memory(m, back)
apart = torch.from_numpy(m.copy())
as32 = torch.from_numpy(m.astype(np.float32))
data = np.array([[1, 2], [3, 4]])
x_np = torch.from_numpy(data)
x_ones = torch.ones_like(x_np)
d = x_np.float().requires_grad_()
(d**2).sum().backward()
grads = d.grad.numpy()
plain = d.detach().numpy()
scaled = grads / np.linalg.norm(grads)
whole = int(scaled.argmax())
print(t, n, m, u, sep="\n")
print(type(n), n.dtype, n.shape, x_np.dtype)
