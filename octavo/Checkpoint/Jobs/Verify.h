// Verifies a checkpoint against its source: nothing missing, nothing extra, plain tensors byte for
// byte, quantized weights as near as their format allows.
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

/// One promise and the result of checking it.
struct Promise {
  std::string name;                ///< stable, kebab case: "weights-complete"
  std::string statement;           ///< the promise, as a sentence
  std::uint64_t checked = 0;       ///< number of weights, files or values checked
  std::vector<std::string> broken; ///< violations, with their figures

  bool isKept() const { return broken.empty(); }
};

/// The result of verify.
struct VerifyReport {
  std::string sourceLayout, outputLayout;
  std::vector<Promise> promises; ///< all promises, also those with nothing to check

  bool isKept() const;
};

/// Options of verify.
struct VerifyOptions {
  ExpectedRounding rounding = ExpectedRounding::Nearest; ///< how weights were quantized
  /// The dtype of the intermediate plain weights, if the source was dequantized first. Weights in
  /// the source's own format are then rounded instead of kept.
  std::optional<kernels::WideType> through = {};
  /// Null: detected from the configuration or the tensors.
  const Layout *outputLayout = nullptr, *sourceLayout = nullptr;
  WorkSettings work = {}; ///< progress counts bytes of the output
};

/// Checks `output` against the checkpoint `source` from which it was made:
///  - quantized from plain: each value lies within half a step of its element format under its
///    scale, or at the largest value if the scale rule clips; no scale of a block is larger than a
///    rule gives (QuantizationCheck);
///  - plain from quantized: each value is the source's, rounded once to the dtype;
///  - quantized before: values are equal. If the grid changed, or `options.through` is set, it is
///    judged as quantized from plain. FNUZ and OCP elements count as the same grid.
VerifyReport verify(const Folder& output, const Folder& source, const VerifyOptions& options = {});

} // namespace octavo::checkpoint
