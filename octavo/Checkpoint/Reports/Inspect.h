// Inspects a checkpoint: its layout, its formats and where its bytes go; or one tensor or layer,
// with the distribution of its scales.
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

/// All layers of one format with the same activations.
struct FormatUse {
  std::string format;      ///< name of the row, or elements and scales if there is no row
  std::string activations; ///< "dynamic fp8_row", "static fp8_tensor", "-"
  std::uint64_t layers = 0;
  std::uint64_t weights = 0;
  std::uint64_t codeBytes = 0;  ///< stored bytes of elements
  std::uint64_t scaleBytes = 0; ///< bytes of the weights' scales, outer scales included
  ScaleCensus scales;
  ScaleHistogram histogram;

  double bitsPerWeight() const;
};

/// The tensors of one dtype outside of quantized layers.
struct PlainUse {
  std::string_view dtype;
  std::uint64_t tensors = 0, elements = 0, bytes = 0;
};

/// The scales of the key-value cache.
struct KvUse {
  std::string format; ///< format that the configuration asks for; may be empty
  std::uint64_t attentionModules = 0, withKey = 0, withValue = 0; ///< numbers of modules
};

/// The result of inspect.
struct Inspection {
  std::string layout, reason, quantizer;
  std::size_t shards = 0;
  std::uint64_t tensors = 0, bytes = 0;
  std::uint64_t weights = 0;     ///< elements of layers and plain tensors, not of foreign codes
  std::uint64_t unreadBytes = 0; ///< bytes of codes that octavo cannot read
  std::string producer;          ///< producer of these codes; empty if unknown
  std::vector<FormatUse> formats;
  std::vector<PlainUse> plain;
  KvUse kv;
  Findings findings; ///< findings of reading the layout

  double bitsPerWeight() const;
};

/// Inspects `folder`. Reads names and all scales, but no weights. If `layout` is null, it is
/// detected. Errors: reading the files.
tl::expected<Inspection, Error> inspect(const Folder& folder, const Layout* layout = nullptr,
                                        const kernels::Execution& execution = {});

/// A tensor and its role.
struct TensorInspection {
  std::string name, file;
  std::string_view dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t bytes = 0;
  std::string
      role; ///< "elements", "scales", "outer scale", "input scale", "key scale", "plain", ...
  std::optional<ScaleCensus> scales = {};
  ScaleHistogram histogram = {}; ///< distribution of the scales
  std::optional<CodeCensus> codes = {};
  /// Plain tensor of floats: the largest magnitude; NaN if there is a NaN.
  std::optional<float> amax = {};
};

/// What a name refers to: a layer with all its parts, or a tensor outside of layers.
struct NameInspection {
  std::string layer = {};  ///< the layer's module; empty for a plain tensor
  std::string format = {}; ///< format of the layer
  std::vector<std::int64_t> shape = {}, block = {}; ///< logical shape and block of the layer
  std::string reading = {}; ///< "value = code * weight_scale / weight_global_scale"
  std::optional<double> largestWeight = {};
  std::vector<TensorInspection> tensors = {};
};

/// Inspects `name`: a tensor, a module, or a module and its parameter. Error: there is none;
/// suggests similar names.
tl::expected<NameInspection, Error> inspectName(const Folder& folder, std::string_view name,
                                                const Layout* layout = nullptr,
                                                const kernels::Execution& execution = {});

} // namespace octavo::checkpoint
