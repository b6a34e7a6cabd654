import torch
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
print(x.grad is None)
flag = x.grad is None
ok = x.grad is not None and x.grad.sum() > 0
y = (x**2).sum()
y.backward()
ok2 = x.grad is not None and x.grad.sum() > 0
a = 0.5
inside = 0 < a < 1
no = not inside
shape = (1,) + (2, 3)
t = torch.ones(2)
ts = [t] * 3
bar = "-" * 20
both = [1, 2] + [3]
print("%.3f" % y.item())
s = "%d %s" % (3, "abc")
s2 = "{:.2f} and {}".format(y.item(), 7)
s3 = ", ".join(["a", "b"])
print("title".upper().center(20, "*"))
k = 2 in both
k2 = 5 not in both
c = 1 if a > 0.7 else 2
d = x.grad if x.grad is not None else torch.zeros(3)
e = type(x).__name__
print(type(x))
f = isinstance(x, torch.Tensor)
print("a", "b", sep=", ", end="!\n")
w = 12
print(f"{a:>{w}.3f}|{a=}|{s!r:>10}")
z = a or 3
nn_ = max(3, 4) if flag and not no else min(1, 2)
