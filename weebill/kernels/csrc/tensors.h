// PyTorch's tensors as arguments and results of functions that Python calls.  These headers are what that takes of
// PyTorch's: its torch/extension.h, with everything, takes longer to compile than all the rest.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

namespace py = pybind11;
using at::Tensor;
