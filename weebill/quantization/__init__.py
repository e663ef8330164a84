"""Grids, calibration, fake quantization and packed weights for any torch model, whatever its family.

`grids` maps numbers to codes and these to bytes, `integer` multiplies codes exactly, `weights` and `modules` put them
into a model and train it under quantization, `calibration` finds the activations' scales, `files` describes a
quantized model in its folder and prepares a network to load it.
"""
