// Whether the machine has bf16 dot products, which no Isa includes.
#pragma once

#include "octavo/Kernels/Isa.h"

namespace octavo::kernels {

/// Whether the machine has dot products of bf16 pairs (AVX512_BF16) and `isa` uses them.
bool usesBf16(Isa isa);
/// Whether usesBf16(isa), the machine has bf16 tiles (AMX_BF16), and Linux lets this process use
/// them.
bool usesTiles(Isa isa);

} // namespace octavo::kernels
