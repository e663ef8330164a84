"""Grids, calibration, fake quantization and packed weights for any torch model, whatever its family.

`grids` maps numbers to codes, `packing` maps codes to bytes, `integer` multiplies codes exactly, `weights` and
`modules` put them into a model, `calibration` finds the activations' scales, `finetuning` trains under
quantization, `files` describes a quantized model in its folder and prepares a network to load it.
"""
