"""What every painter draws with: fonts, pens and colours, glyphs, batches, glows, shadows and pictures of tensors."""
