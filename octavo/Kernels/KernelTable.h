// The kernels of one instruction set. Adding a kernel is adding a row here and its function in
// generic/ or in a set's folder.
#pragma once

#include "octavo/Kernels/Isa.h"
#include "octavo/Kernels/Plans.h"

namespace octavo::kernels {

struct KernelTable {
  Isa isa;
  int vectorBytes; ///< of the set's registers, from the compiler's own macros for that file

  /// n wide values to n codes, one a byte. Stochastic rounding takes one of `random` a value.
  using Convert = void(const ConvertPlan& plan, const void* values, std::uint8_t* codes,
                       std::size_t n, const std::uint32_t* random, Stores stores);
  Convert* convertF32;
  Convert* convertBf16;
  Convert* convertF16;

  /// n codes, one a byte, to n wide values.
  using Decode = void(const DecodePlan& plan, const std::uint8_t* codes, void* values,
                      std::size_t n, Stores stores);
  Decode* decodeF32;
  Decode* decodeBf16;
  Decode* decodeF16;

  /// n codes of the named width, from one a byte to packed or back.
  using Repack = void(const std::uint8_t* from, std::uint8_t* to, std::size_t n);
  Repack* pack4;
  Repack* unpack4;
  Repack* pack6;
  Repack* unpack6;

  /// The bits of the largest |x| as f32, which are above those of Inf if there is a NaN.
  using Amax = std::uint32_t(const void* values, std::size_t n);
  Amax* amaxF32;
  Amax* amaxBf16;
  Amax* amaxF16;
};

/// The table of `isa`. Precondition: !whyNot(isa).
const KernelTable& kernelTable(Isa isa);

} // namespace octavo::kernels
