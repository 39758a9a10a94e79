// The formats of a dot in one word, as lists of candidates have them.
#pragma once

#include "octavo/Transforms/QuantizeDots.h"

#include "llvm/Support/Error.h"

#include <string>
#include <string_view>
#include <vector>

namespace octavo::transforms {

/// Reads `WEIGHTS[/ACTIVATIONS[/RULE]]`: `mxfp4`, `mxfp4/none`, `mxfp6_e2m3/mxint8/even`. Without
/// activations they are those that go with the weights. The error names what is unknown, and near
/// names.
llvm::Expected<DotFormats> dotFormatsOf(std::string_view name);

/// The shortest name that dotFormatsOf reads as these.
std::string nameOf(const DotFormats& formats);

/// Each scaled format of weights with its own activations, but those of E5M2, which are for
/// gradients: other formats of as many bits lose less of weights and activations.
std::vector<DotFormats> inferenceFormats();

} // namespace octavo::transforms
