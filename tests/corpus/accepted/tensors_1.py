import torch

x = torch.arange(12)
x
x.numel()
X = x.reshape(3, 4)
X
torch.zeros((2, 3, 4))
Y = torch.tensor([[2, 1, 4, 3], [1, 2, 3, 4], [4, 3, 2, 1]])
X[-1], X[1:3]
X[1, 2] = 17
X[:2, :] = 12
print(X)
