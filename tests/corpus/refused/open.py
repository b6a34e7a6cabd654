import torch
text = open("input.txt").read()  # refused: reads and writes no files
print(len(text))
