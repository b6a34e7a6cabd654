import torch

torch.manual_seed(0)
x = torch.tensor([0.0, 1.0, 4.0], requires_grad=True)


def unsafe_sqrt(t):
    return torch.where(t > 0, torch.sqrt(t), torch.zeros_like(t))


loss = unsafe_sqrt(x).sum()
loss.backward()
print(x.grad)
if torch.isnan(x.grad).any():
    print("NaN in the gradient")
has_nan = torch.isnan(x.grad).any().item()


class SafeLog(torch.nn.Module):
    eps = 1e-8

    def forward(self, x):
        return torch.log(x + self.eps)


z = SafeLog()(x.detach())
