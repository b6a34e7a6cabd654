import torch
%matplotlib inline  # refused: Jupyter
x = torch.ones(2)
