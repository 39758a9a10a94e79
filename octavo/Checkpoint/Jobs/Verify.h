// Whether a checkpoint that was made from another holds what was promised: nothing missing, nothing
// extra, plain tensors byte for byte, quantized weights as near as their format lets them be.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/Folder.h"
#include "octavo/Checkpoint/Jobs/QuantizationPromise.h"
#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Checkpoint/Work.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace octavo::checkpoint {

/// One promise, and whether it is kept.
struct Promise {
  std::string name;                ///< stable, kebab case: "weights-complete"
  std::string statement;           ///< what is promised, as a sentence
  std::uint64_t checked = 0;       ///< how many weights, files or values it was checked on
  std::vector<std::string> broken; ///< where it is not kept, with the figures

  bool isKept() const { return broken.empty(); }
};

struct VerifyReport {
  std::string sourceLayout, outputLayout;
  std::vector<Promise> promises; ///< also those that nothing was there to check on

  bool isKept() const;
};

struct VerifyOptions {
  ExpectedRounding rounding = ExpectedRounding::Nearest;
  /// The dtype of the plain weights from which all quantized ones were made, if the source was
  /// dequantized on the way: then weights in the source's own format are rounded, not kept.
  std::optional<kernels::WideType> through = {};
  /// Null: what the checkpoint says, or its tensors.
  const Layout *outputLayout = nullptr, *sourceLayout = nullptr;
  WorkSettings work = {}; ///< progress hears of bytes of the output
};

/// Checks `output` against the checkpoint `source` that it was made from. Of a quantized weight
/// that was plain: each value lies within half a step of its element format under its scale, or at
/// the largest value where the scale rule clips; no block's scale is larger than a rule gives. Of a
/// plain one that was quantized: each value is the source's, rounded once to the dtype. Of one that
/// was quantized before: equal values. It is judged as if it had been plain if its grid changed, or
/// if `options.through` is set. FNUZ elements and OCP's are the same grid.
VerifyReport verify(const Folder& output, const Folder& source, const VerifyOptions& options = {});

} // namespace octavo::checkpoint
