from gradstudio.scripting import draw as draw

__version__: str
