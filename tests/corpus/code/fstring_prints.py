import torch

torch.manual_seed(0)
losses = torch.rand(3).tolist()
best = min(losses)
name = "run"
width = 10
for i, loss in enumerate(losses):
    print(f"{name:>{width}} {i:02d} | {loss:.3f} {'*' if loss == best else ''}")
print(f"{best=:.2f}", "%d items" % len(losses), "{:>5}".format(name))
total = sum(losses)
