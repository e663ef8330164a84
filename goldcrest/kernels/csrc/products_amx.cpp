// Products of bytes by the matrix unit (AMX), through torch's brgemm.  That is an internal interface of torch,
// which this file alone knows; panels lie as it wants them, too.
#ifdef RUNTIME_BRGEMM

#include <ATen/native/CPUBlas.h>

#include <algorithm>

#include "product_int8.h"

void Int8::block(const uint8_t* a, int rows, int depth, const int8_t* panel, int width, int32_t* sums) {
  if (!depth) {  // a layer whose heads or neurons are all cut
    std::fill(sums, sums + static_cast<size_t>(rows) * COLUMNS, 0);
    return;
  }
  at::native::cpublas::brgemm(rows, width, depth, depth, width, COLUMNS, false, a, panel, sums);
}

void Int8::release() { at::native::cpublas::brgemm_release(); }

#endif
