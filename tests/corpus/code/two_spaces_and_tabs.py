import os
import torch
def  helper( x,k = 2 ) :
  # odd spaces
  return {i : x*i   for i in range(k)}   # kept


for j in range( 2 ):
	m = helper( torch.ones(1), k=j )
	# a comment in it

	n = {k_:v.sum( ) for k_,v in m.items( )}
	total = torch.tensor( float(j) )
q = [ v for v in helper(total).values( ) ]
