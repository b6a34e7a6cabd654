import torch
import os  # refused: reaches no files
os.system("echo hello")
