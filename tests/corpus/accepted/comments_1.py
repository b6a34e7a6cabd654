#!/usr/bin/env python
# -*- coding: utf-8 -*-
"""
Title of a notebook
===================

A paragraph.
"""
# %% [markdown]
# ## A cell
import torch  # the library


# In[1]:


x = torch.tensor([  # a literal over lines
    [1, 2],  # first
    [3, 4],  # second
])
######## banner ########
y = (x
     .float()   # as float
     .mean())   # mean


# %%
z = x \
    + 1
'''A string
   in the middle'''
for i in range(2):  # at the head
    # above
    w = z * i  # beside
    # end of body
# after
#no space
total = w.sum()
#
# last words
