import torch
x = torch.arange(12, dtype=torch.float32)
print(x.numel(), x.shape)
X = x.reshape(3, 4)
Y = torch.tensor([[2.0, 1, 4, 3], [1, 2, 3, 4], [4, 3, 2, 1]])
print(X[-1], X[1:3])
pair = X[-1], X[1:3]
X[1, 2] = 17
X[:2, :] = 12
y_before = Y
Y = Y + X
same = id(Y) == id(y_before)
Z = torch.zeros_like(Y)
print('id(Z):', id(Z) == id(Z))
Z[:] = X + Y
x_before = X
X += Y
kept = id(X) == id(x_before)
A = X.numpy()
B = torch.from_numpy(A)
ta, tb = type(A), type(B)
a = torch.tensor([3.5])
vals = a, a.item(), float(a), int(a)
print(a, a.item(), float(a), int(a))
s = len(x)
eq = X == Y
tot = X.sum()
cat0 = torch.cat((X, Y), dim=0)
m = X.T == X.T
print(m.all().item())
