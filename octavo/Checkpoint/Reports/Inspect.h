// What a checkpoint is: its layout, its formats, where its bytes go; and one tensor or layer of it,
// with the spread of its scales.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Checkpoint/Lint/CodeCensus.h"
#include "octavo/Checkpoint/Lint/ScaleCensus.h"
#include "octavo/Kernels/Execution.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

/// The layers of one format.
struct FormatUse {
  std::string format;      ///< the row's name, else what elements and scales are
  std::string activations; ///< "dynamic fp8_row", "static fp8_tensor", "-"
  std::uint64_t layers = 0;
  std::uint64_t weights = 0;
  std::uint64_t codeBytes = 0;
  std::uint64_t scaleBytes = 0; ///< of weights' scales, outer ones included
  ScaleCensus scales;
  ScaleHistogram histogram;

  double bitsPerWeight() const;
};

/// The tensors outside of quantized layers, of one dtype.
struct PlainUse {
  std::string_view dtype;
  std::uint64_t tensors = 0, elements = 0, bytes = 0;
};

struct KvUse {
  std::string format; ///< what the configuration asks for; may be empty
  std::uint64_t attentionModules = 0, withKey = 0, withValue = 0;
};

struct Inspection {
  std::string layout, reason, quantizer;
  std::size_t shards = 0;
  std::uint64_t tensors = 0, bytes = 0;
  std::uint64_t weights = 0; ///< logical elements of layers and plain tensors, codes of others not
  std::uint64_t unreadBytes = 0; ///< of codes that octavo cannot read
  std::string producer;          ///< whose these are, where that is told
  std::vector<FormatUse> formats;
  std::vector<PlainUse> plain;
  KvUse kv;
  Findings findings; ///< of reading the layout

  double bitsPerWeight() const;
};

/// What `folder` holds. Reads names and all scales, no weights. `layout` is null where the folder
/// says it, or its tensors. Errors: of reading the files.
tl::expected<Inspection, Error> inspect(const Folder& folder, const Layout* layout = nullptr,
                                        const kernels::Execution& execution = {});

/// A tensor and what it is for.
struct TensorInspection {
  std::string name, file;
  std::string_view dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t bytes = 0;
  std::string
      role; ///< "elements", "scales", "outer scale", "input scale", "key scale", "plain", ...
  std::optional<ScaleCensus> scales = {};
  ScaleHistogram histogram = {}; ///< of the scales
  std::optional<CodeCensus> codes = {};
  /// Of a plain tensor of floats: the largest magnitude; NaN if there is a NaN.
  std::optional<float> amax = {};
};

/// What one name stands for: a layer with all of its parts, or a tensor of none.
struct NameInspection {
  std::string layer = {};                           ///< its module; empty for a plain tensor
  std::string format = {};                          ///< of the layer
  std::vector<std::int64_t> shape = {}, block = {}; ///< of the layer: logical
  std::string reading = {}; ///< "value = code * weight_scale / weight_global_scale"
  std::optional<double> largestWeight = {};
  std::vector<TensorInspection> tensors = {};
};

/// Reads all that belongs to `name`: a tensor, a module, or a module and its parameter. Error:
/// there is none; names near it.
tl::expected<NameInspection, Error> inspectName(const Folder& folder, std::string_view name,
                                                const Layout* layout = nullptr,
                                                const kernels::Execution& execution = {});

} // namespace octavo::checkpoint
