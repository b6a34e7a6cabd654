import torch
text = open("input.txt").read()  # refused: open
print(len(text))
