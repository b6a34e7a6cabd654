import torch

torch.manual_seed(3)
torch.manual_seed(3)
print("PyTorch:", torch.__version__)
x = torch.rand(2, 3)
rand_shape = (2, 3,)
print(f"Random Tensor: \n {torch.ones(rand_shape)} \n")
tensor = torch.ones(4, 4)
print(f"First row: {tensor[0]}")
print(f"First column: {tensor[:, 0]}")
print(f"Last column: {tensor[..., -1]}")
print(f"Shape of tensor: {tensor.shape}")
print(f"Datatype of tensor: {tensor.dtype}")
print(f"Device tensor is stored on: {tensor.device}")
agg = tensor.sum()
agg_item = agg.item()
print(agg_item, type(agg_item))
print(f"{tensor} \n")
t = torch.ones(5)
n = t.numpy()
print(f"t: {t}", f"n: {n}", sep="\n")
t.add_(1)
z = t.tolist()
print("t:", t, "n:", n)
print("%s has %d elements" % ("t", t.numel()))
print("{:<10}|{:>10}|{:^10}".format("a", "b", "c"))
print("{0} {1} {0}".format("x", "y"))
print('It\'s "quoted"', "tab\there")
print("a" "b" "c")
print(f"{3.14159:.2f} {1000000:,} {0.25:.1%} {255:#x} {5:03d}")
name = "w"
val = 1.23456
print(f"{name:>8}: {val:8.3f}")
print(f"{name!r} {val=:.2f} {val = }")
print(*[1, 2, 3])
xs = [1, 2, 3]
print(*xs, sep=", ")
print(len(xs), sum(xs) / len(xs), max(xs), min(xs), sorted(xs, reverse=True))
ys = [*xs, 4]
zs = xs[::-1]
first, *rest = xs
i = 5
i += 1
s = "abc"
s += "def"
xs += [4]
xs2 = xs * 2
