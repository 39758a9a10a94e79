// Which dot products of bf16 the machine has, beside its instruction set.
#pragma once

#include "octavo/Kernels/Isa.h"

namespace octavo::kernels {

/// Whether it has pairs (AVX512_BF16) and `isa` is the set that takes them.
bool usesBf16(Isa isa);
/// Whether it has tiles of them too (AMX_BF16), and Linux lets this process use them.
bool usesTiles(Isa isa);

} // namespace octavo::kernels
