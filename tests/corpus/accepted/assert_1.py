import torch

a = torch.arange(6.0).reshape(2, 3)
b = a.clone()
c = a
assert c is a
assert a.shape == (2, 3), "two rows of three"
assert torch.allclose(a, b)
assert (a == b).all(), f"they differ by {(a - b).abs().max():.3f}"
assert a.requires_grad is False and a.is_leaf
b += 1
assert not torch.equal(a, b)
assert torch.allclose((a * 2.0).sum(dim=0) + 1000.0, torch.tensor([1006.0, 1010.0, 1014.0]), rtol=1e-5, atol=1e-8)
assert b.sum().item() == 21.0, "the sum of all that has been written into b so far has to be twenty-one and not less"
x = torch.tensor(2.0, requires_grad=True)
(x**3).backward()
assert x.grad == 12
