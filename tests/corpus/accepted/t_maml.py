import torch
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.randn(1, 10, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
params = [w, b]
inner_lr = 0.1


def net(x, params):
    return F.linear(x, params[0], params[1])


x_s, y_s = torch.randn(5, 10), torch.randn(5, 1)
x_q, y_q = torch.randn(5, 10), torch.randn(5, 1)
loss = F.mse_loss(net(x_s, params), y_s)
grads = torch.autograd.grad(loss, params, create_graph=True)
fast = [p - inner_lr * g for p, g in zip(params, grads)]
meta_loss = F.mse_loss(net(x_q, fast), y_q)
meta_loss.backward()
print(w.grad)
