"""Training on whatever device there is."""
import torch

x = torch.ones(2, 2)
# choose the device
if torch.cuda.is_available():
    device = torch.device("cuda")
else:
    device = torch.device("cpu")
torch.manual_seed(0)
w = torch.randn(2, 2, device=device, requires_grad=True)
x = x.to(device)
y = (x @ w).sum()
y.backward()
print("on", device, w.grad.device)
x.device, w.is_leaf
