import torch

x = torch.ones(2, requires_grad=True)
n = 3
y = x * 2
# before the if
if n > 2:
    # before y
    y = y + 1  # beside y
    d = dict((k, y) for k in "ab")  # beside d
    # before z
    z = y * 3
    print("in", z)
elif n > 1:
    y = y - 1
    with open(__file__) as file:
        text = file.readline()
else:
    y = y - 2
    e = dict((k, y) for k in "cd")
    # last in else

if torch.cuda.is_available():
    y = y * 7
    torch.cuda.synchronize()
print(sorted(d))


def f(a, flag, mode="x"):
    out = a * 2
    if flag:
        out = out + 1
        seen = dict((k, out) for k in "ab")
        out = out * len(seen)
    elif mode == "x":
        out = out - 1
    else:
        while out.sum() > 3:
            out = out / 2
        out = out + 5
    return out


u = f(x, True)
v = f(x, False)
w = f(x, False, "y")


def g(a, flag):
    b = a + 1
    if flag:
        return dict((k, b) for k in "ab")
    return b


r = 1
for k in range(4):
    q = x * k
    if k == 2:
        q = q + 1
        if k > 1:
            t = dict((k, q) for k in "ab")
            q = q * len(t)
    if k == 3:
        break
loss = (u + v + w + z + y).sum()
loss.backward()
