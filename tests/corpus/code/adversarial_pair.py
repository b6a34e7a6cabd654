import argparse
import os
import numpy as np
import torch
import torch.nn as nn
from torch.autograd import Variable

parser = argparse.ArgumentParser()
parser.add_argument("--latent_dim", type=int, default=5)
parser.add_argument("--img_size", type=int, default=4)
opt = parser.parse_args()
img_shape = (1, opt.img_size, opt.img_size)
cuda = True if torch.cuda.is_available() else False


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(
            *block(opt.latent_dim, 8, normalize=False), *block(8, 6), nn.Linear(6, int(np.prod(img_shape))), nn.Tanh()
        )

    def forward(self, z):
        img = self.model(z)
        img = img.view(img.size(0), *img_shape)
        return img


class Discriminator(nn.Module):
    def __init__(self):
        super(Discriminator, self).__init__()
        self.model = nn.Sequential(nn.Linear(int(np.prod(img_shape)), 6), nn.LeakyReLU(0.2), nn.Linear(6, 1), nn.Sigmoid())

    def forward(self, img):
        img_flat = img.view(img.size(0), -1)
        validity = self.model(img_flat)
        return validity


def weights_init_normal(m):
    classname = m.__class__.__name__
    if classname.find("Linear") != -1:
        torch.nn.init.normal_(m.weight.data, 0.0, 0.02)


adversarial_loss = torch.nn.BCELoss()
generator = Generator()
discriminator = Discriminator()
generator.apply(weights_init_normal)
opt_g = torch.optim.Adam(generator.parameters(), lr=0.01)
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
for epoch in range(2):
    z = Variable(Tensor(np.random.RandomState(epoch).normal(0, 1, (3, opt.latent_dim))))
    gen = generator(z)
    valid = Variable(Tensor(3, 1).fill_(1.0), requires_grad=False)
    g_loss = adversarial_loss(discriminator(gen), valid)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    print("%d %f" % (epoch, g_loss.item()))
