import torch
from torch import no_grad, nn
from torch.autograd import grad

x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.enable_grad(), torch.set_grad_enabled(False):
    a = x * 2
with no_grad():
    b = x * 3
    with torch.set_grad_enabled(True):
        c = x * b
with torch.inference_mode(mode=True):
    d = x + 1
    print(d.is_inference())
with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
    e = x.unsqueeze(0) @ x.unsqueeze(1)
(g,) = grad(c.sum(), x)
a.requires_grad, b.requires_grad, c.requires_grad, d.requires_grad
