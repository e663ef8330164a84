// The features of this processor, for Python.
#include "processor.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;

NB_MODULE(_processor, module) {
  module.def("features", [] {
    nb::list found;
    for (const char* name : features()) found.append(name);
    return found;
  });
}
