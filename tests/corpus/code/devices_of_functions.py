import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F

log = []


def pick(name):
    device = torch.device(name)
    info = dict((k, device) for k in "ab")
    return device, info


def train(args, model, device, data, optimizer, epoch):
    model.train()
    for k, x in enumerate(data):
        x = x.to(device)
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), torch.zeros(4, 2, device=device))
        loss.backward()
        optimizer.step()
        if k % args.every == 0:
            print("{} {:.4f} {}".format(epoch, loss.item(), device))
            log.append(loss.item())
            if args.dry:
                break


def test(model, device, data):
    model.eval()
    total = 0
    with torch.no_grad():
        for x in data:
            total += model(x.to(device)).sum().item()
            log.append({str(device): total})
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--dry", action="store_true")
    args = parser.parse_args()
    use_cuda = torch.cuda.is_available()
    torch.manual_seed(1)
    if use_cuda:
        device = torch.device("cuda")
    else:
        device = torch.device("cpu")
    kwargs = {"lr": 0.1}
    if use_cuda:
        kwargs.update({"x": 1})
    model = nn.Linear(3, 2).to(device)
    data = [torch.randn(4, 3) for _ in range(3)]
    optimizer = torch.optim.SGD(model.parameters(), **kwargs)
    for epoch in range(1, 3):
        train(args, model, device, data, optimizer, epoch)
        test(model, device, data)
    return model


if __name__ == "__main__":
    model = main()
    out = pick("cpu")
    w = model.weight
    g = model.weight.grad
