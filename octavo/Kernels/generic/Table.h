// The set's kernel table. A set's Kernels.cpp includes this file last.
#pragma once

#include "octavo/Kernels/KernelTable.h"
#include "octavo/Kernels/generic/Amax.h"
#include "octavo/Kernels/generic/Comparison.h"
#include "octavo/Kernels/generic/Convert.h"
#include "octavo/Kernels/generic/Decode.h"
#include "octavo/Kernels/generic/Dequantize.h"
#include "octavo/Kernels/generic/Pack.h"
#include "octavo/Kernels/generic/Quantize.h"
#include "octavo/Kernels/generic/QuantizeStrip.h"
#include "octavo/Kernels/generic/Random.h"
#include "octavo/Kernels/generic/Transpose.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

/// Defined by kTable: each set's Kernels.cpp is one of these.
extern const KernelTable kTable;
const KernelTable kTable = {
    .isa = kIsa,
    .vectorBytes = kVectorBytes,
    .convertF32 = convert<LoadF32>,
    .convertBf16 = convert<LoadBf16>,
    .convertF16 = convert<LoadF16>,
    .decodeF32 = decode<StoreF32>,
    .decodeBf16 = decode<StoreBf16>,
    .decodeF16 = decode<StoreF16>,
    .pack4 = repack<Pack4, true>,
    .unpack4 = repack<Unpack4, false>,
    .pack6 = repack<Pack6, true>,
    .unpack6 = repack<Unpack6, false>,
    .transpose = transposeCodes,
    .amaxF32 = amaxBits<LoadF32>,
    .amaxBf16 = amaxBits<LoadBf16>,
    .amaxF16 = amaxBits<LoadF16>,
    .blockAmaxes = blockAmaxesOfRun,
    .compare = compare,
    .areRounded = areRounded,
    .fillRandom = fillRandom,
    .quantizeRun = quantizeRun,
    .quantizeStrip = quantizeStrip,
    .quantizeSegment = quantizeSegment,
    .dequantizeRun = dequantizeRun,
    .dequantizeStrip = dequantizeStrip,
};

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
