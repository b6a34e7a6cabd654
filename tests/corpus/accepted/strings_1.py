import torch

x = torch.arange(6).reshape(2, 3)
title = "shape of x".title()
line = "-" * len(title)
row = "|".join(["a".ljust(4), "b".rjust(4), "c".center(5, ".")])
text = "%d x %d, %s, %6.2f%%" % (x.shape[0], x.shape[1], x.dtype, 12.345)
one = "%.3e" % x.float().mean().item()
both = "{} and {!r:>6}".format("left", "r") + " " + str(x.sum().item())
words = "the cat sat on the mat".split()
count = "the cat sat on the mat".count("at")
longest = max(len(words[0]), len(words[1]), len(words[-1]))
clean = "  spaces\n".strip().upper().replace("S", "5")
width, places = 10, 3
wide = f"{x.float().mean().item():>{width}.{places}f}"
named = f"{longest=}, {words[0]!r}, {1e6:,.0f}, {0.5:.0%}, {7:03d}, {255:x}"
starts = clean.startswith("5") and not clean.endswith("x")
where = "cat" in words
nowhere = "dog" not in words
first = words[0][0]
back = "".join(list(reversed("abc")))
joined = "-".join(words[:2]) + "!"
print(title, line, sep="\n")
print(row, end=" <- row\n")
print(f"{'name':<10}{'value':>8}")
