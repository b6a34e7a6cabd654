import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2


cube = Cube.apply
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = cube(x).sum()
y.backward()
print(x.grad)
