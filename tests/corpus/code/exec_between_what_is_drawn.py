import torch
import torch.nn as nn
lr = 0.1
steps = 3
exec("lr = 0.2\nsteps = 4\ndef helper(t):\n    return t * 2")
torch.manual_seed(0)
net = nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=lr)
x = torch.randn(5, 2)
try:
    y = torch.ones(5, 1)
    if steps > 3: z = torch.zeros(1)
    elif steps > 2:
        z = torch.ones(1)
        w = torch.ones(2) * 2
    else:
        z = torch.ones(3)
        w = torch.ones(3)
finally:
    done = torch.tensor(1)
for step in range(steps):
    loss = (net(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    if loss < 0.01:
        print("early"); break
    opt.step()
    if step % 2 == 0:
        print(step, f"{loss.item():.4f}")
        last = torch.relu(loss)
print(helper(z), sorted(k for k in globals() if not k.startswith("_")))
exec("torch = None")
print(torch)
