import torch
from math import pi, sqrt

A = torch.arange(6.).reshape(2, 3)
B = torch.arange(12.).reshape(3, 4)
C = torch.einsum('ij,jk->ik', A, B)
tr = torch.einsum("ii", torch.eye(3) * pi)
batch = torch.einsum('bik,bkj->bij', torch.ones(2, 3, 4), torch.ones(2, 4, 5))
outer = torch.outer(A[0], B[0])
norm = torch.linalg.norm(A)
sq = sqrt(16) + pi
Q, R = torch.linalg.qr(torch.tensor([[2., 1.], [1., 3.]]))
evals, evecs = torch.linalg.eigh(torch.tensor([[2., 1.], [1., 3.]]))
U, S, Vh = torch.linalg.svd(A, full_matrices=False)
inv = torch.inverse(torch.tensor([[2., 0.], [0., 4.]]))
x = torch.linalg.solve(torch.tensor([[3., 1.], [1., 2.]]), torch.tensor([9., 8.]))
det = torch.det(torch.eye(2) * 3)
A.mean(), A.sum(axis=0), A.sum(axis=[0, 1]), A.numel()
torch.abs(A).sum(), torch.dot(A[0], A[1]), torch.mv(A, torch.ones(3)), torch.mm(A, B)
