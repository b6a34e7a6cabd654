"""The engine: a process of its own that runs programs. The only room with torch.

Nothing here is imported by the window; it speaks through `gradstudio.protocol`.
"""
