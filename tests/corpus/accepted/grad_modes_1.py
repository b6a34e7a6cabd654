# Recording of gradients switched by a value, and by a statement.
import torch

weights = torch.ones(2, requires_grad=True)
is_train = False
with torch.set_grad_enabled(is_train):
    frozen = weights * 2
with torch.set_grad_enabled(True):
    live = weights * 2
torch.set_grad_enabled(False)
off = torch.is_grad_enabled()
still = weights * 3
torch.set_grad_enabled(True)
with torch.autograd.set_detect_anomaly(True):
    loss = (live * 3).sum()
    loss.backward()
with torch.autograd.detect_anomaly(check_nan=False):
    again = (weights * 3).sum()
torch.set_printoptions(precision=2)
print(torch.tensor([3.14159, 2.71828]))
torch.set_printoptions(profile="default")
print(torch.tensor(3.14159))
torch.set_default_dtype(torch.float64)
exact = torch.zeros(2)
torch.set_default_dtype(torch.float32)
short = torch.get_default_dtype()
