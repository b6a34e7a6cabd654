"""A sketch of autograd's graph as a picture: boxes from top to bottom, a frame for each call of a module, as SVG."""
