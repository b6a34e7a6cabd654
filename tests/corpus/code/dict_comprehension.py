import torch

chars = sorted(set("hello world"))
stoi = {ch: i for i, ch in enumerate(chars)}
itos = {i: ch for ch, i in stoi.items()}
encode = lambda s: [stoi[c] for c in s]
decode = lambda l: "".join([itos[i] for i in l])
data = torch.tensor(encode("hello"), dtype=torch.long)
text = decode(data.tolist())
counts = {c: "hello world".count(c) for c in chars if c != " "}
vocab = len(chars)
print(text, vocab, counts["l"])
