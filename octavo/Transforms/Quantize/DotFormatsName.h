// Names for the formats of a dot, as lists of candidates spell them.
#pragma once

#include "octavo/Transforms/Quantize/QuantizeDots.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::transforms {

/// Reads `WEIGHTS[/ACTIVATIONS[/RULE]]`: `mxfp4`, `mxfp4/none`, `mxfp6_e2m3/mxint8/even`. Without
/// ACTIVATIONS, the default of WEIGHTS. Then may follow, in this order, `+migrated` (the
/// calibration evens out the columns) and `+static` (static scales for its amaxes). Fails, with
/// near names, on an unknown name, or if a calibration is needed and null.
llvm::Expected<DotFormats> dotFormatsOf(std::string_view name,
                                        const std::shared_ptr<const StaticScales>& calibration);

/// The shortest name that dotFormatsOf reads as `formats`.
std::string nameOf(const DotFormats& formats);

/// The candidates for inference: each scaled format with its default activations, except
/// - formats that are the default activations of others;
/// - E5M2, which is for gradients: other formats of the same width lose less of weights and
///   activations;
/// - formats whose elements have no MLIR type, which are chosen only by name.
/// With a calibration (it may be null), two variants are added: static scales, for activations with
/// a scale of the whole tensor; and migrated columns, if the calibration has columns and the
/// activations have blocks along them.
std::vector<DotFormats> inferenceFormats(const std::shared_ptr<const StaticScales>& calibration);

} // namespace octavo::transforms
