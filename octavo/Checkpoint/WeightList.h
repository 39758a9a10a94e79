// The weights and scales of a checkpoint under the names that they have in every layout, so that
// two checkpoints can be laid side by side.
#pragma once

#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Checkpoint/ValueRows.h"

#include <memory>
#include <string>
#include <vector>

namespace octavo::checkpoint {

/// One of the three is set.
struct NamedWeight {
  std::string name; ///< "m.weight", "m.k_scale", "m.input_scale",
                    ///< "experts.down_proj_input_scale"
  const Layer* layer = nullptr;
  const StoredTensor* plain = nullptr;
  const Part* scale = nullptr;    ///< of the cache or of a layer's input
  const Layer* inputOf = nullptr; ///< whose input a scale is of

  /// "nvfp4", "BF16", ...
  std::string kind() const;
  /// Logical; a plain tensor's own.
  const std::vector<std::int64_t>& shape() const;
};

/// The weights of a folder. The folder must outlive it.
class WeightList {
public:
  /// `layout` is null where the folder says it, or its tensors.
  WeightList(const Folder& folder, Findings& findings, const Layout* layout = nullptr);

  const Layout& layout() const { return *detected.layout; }
  const std::string& reason() const { return detected.reason; }
  const Inventory& inventory() const { return contents; }
  /// In the order of names.
  std::span<const NamedWeight> weights() const { return list; }
  const NamedWeight* find(std::string_view name) const;

private:
  DetectedLayout detected;
  Inventory contents;
  std::vector<NamedWeight> list;
};

/// Values of a weight, row by row. A tensor of any rank but 2 and 3 is one row. `axes` are those of
/// a plain tensor. Error: it has no values (integers, f64, codes), or parts do not agree.
class WeightRows {
public:
  static tl::expected<WeightRows, Error> open(const NamedWeight& weight,
                                              PlainAxes axes = PlainAxes::Same);
  const ValueRows& rows() const { return *values; }

private:
  std::unique_ptr<SafetensorsEntry> flat; ///< of a tensor seen as one row
  std::shared_ptr<const ValueRows> values;
};

/// Whether both have the same parts, and those the same dtypes and shapes: all but bytes.
bool haveSameParts(const NamedWeight& a, const NamedWeight& b);

/// The tensors that a weight's values are made of, in an order that those with the same parts
/// share.
std::vector<StoredTensor> tensorsOf(const NamedWeight& weight);

/// Bytes of a weight; of a layer, those of its elements.
std::uint64_t bytesOf(const NamedWeight& weight);

/// The largest magnitude of a plain tensor; NaN if there is a NaN; nothing where it has no values.
/// Errors: of reading the file.
tl::expected<std::optional<float>, Error> plainAmax(const StoredTensor& tensor);

} // namespace octavo::checkpoint
