// The formats of a dot in one word, as lists of candidates have them.
#pragma once

#include "octavo/Transforms/Quantize/QuantizeDots.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::transforms {

/// Reads `WEIGHTS[/ACTIVATIONS[/RULE]]`: `mxfp4`, `mxfp4/none`, `mxfp6_e2m3/mxint8/even`. Without
/// activations they are those that go with the weights. `+migrated` and `+static`, in this order at
/// the end, are columns that the calibration evens out and static scales for its amaxes. The error
/// names what is unknown, and near names; or the calibration is null and one is wanted.
llvm::Expected<DotFormats> dotFormatsOf(std::string_view name,
                                        const std::shared_ptr<const StaticScales>& calibration);

/// The shortest name that dotFormatsOf reads as these.
std::string nameOf(const DotFormats& formats);

/// Each scaled format of weights with its own activations, but those of E5M2, which are for
/// gradients (other formats of as many bits lose less of weights and activations), and those whose
/// elements MLIR has no type for, which are chosen by name alone. With a calibration, which may be
/// null, also with static scales where one is of the tensor, and where it knows columns, with these
/// migrated where blocks lie along them.
std::vector<DotFormats> inferenceFormats(const std::shared_ptr<const StaticScales>& calibration);

} // namespace octavo::transforms
