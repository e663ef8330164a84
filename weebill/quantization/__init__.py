"""Grids, calibration, fake quantization and packed weights for any torch model, whatever its family."""
