// The weights and scales of a checkpoint under names that do not depend on the layout, so that two
// checkpoints can be compared.
#pragma once

#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Checkpoint/ValueRows.h"

#include <memory>
#include <string>
#include <vector>

namespace octavo::checkpoint {

/// A weight or a scale. Exactly one of `layer`, `plain` and `scale` is set.
struct NamedWeight {
  std::string name; ///< "m.weight", "m.k_scale", "m.input_scale",
                    ///< "experts.down_proj_input_scale"
  const Layer* layer = nullptr;
  const StoredTensor* plain = nullptr;
  const Part* scale = nullptr;    ///< scale of a cache or of a layer's input
  const Layer* inputOf = nullptr; ///< the layer whose input `scale` belongs to; else null

  /// The layer's format or the tensor's dtype: "nvfp4", "BF16", ...
  std::string kind() const;
  /// The layer's logical shape; for a tensor, its stored shape.
  const std::vector<std::int64_t>& shape() const;
};

/// The weights and scales of a folder. The folder must outlive it.
class WeightList {
public:
  /// If `layout` is null, it is detected from the configuration or the tensors. `findings` gets
  /// what reading the layout reports.
  WeightList(const Folder& folder, Findings& findings, const Layout* layout = nullptr);

  const Layout& layout() const { return *detected.layout; }
  /// Why the folder has that layout.
  const std::string& reason() const { return detected.reason; }
  const Inventory& inventory() const { return contents; }
  /// Sorted by name.
  std::span<const NamedWeight> weights() const { return list; }
  /// The weight of that name; null if there is none.
  const NamedWeight* find(std::string_view name) const;

private:
  DetectedLayout detected;
  Inventory contents;
  std::vector<NamedWeight> list;
};

/// The values of a weight, row by row. A plain tensor whose rank is neither 2 nor 3 is one row.
class WeightRows {
public:
  /// `axes` are the axes of a plain tensor. Error: the dtype has no values (integers, f64, codes),
  /// or the parts of a layer are missing or disagree.
  static tl::expected<WeightRows, Error> open(const NamedWeight& weight,
                                              PlainAxes axes = PlainAxes::Same);
  const ValueRows& rows() const { return *values; }

private:
  std::unique_ptr<SafetensorsEntry> flat; ///< entry of a tensor that is read as one row; else null
  std::shared_ptr<const ValueRows> values;
};

/// Whether both have the same parts, and these the same dtypes and shapes. Input scales are not
/// compared.
bool haveSameParts(const NamedWeight& a, const NamedWeight& b);

/// The tensors of a weight's values: elements, scales, outer scale. Weights with the same parts
/// (haveSameParts) give the same order.
std::vector<StoredTensor> tensorsOf(const NamedWeight& weight);

/// Bytes of a weight; for a layer, of its elements only.
std::uint64_t bytesOf(const NamedWeight& weight);

/// The largest magnitude of a plain tensor; NaN if there is a NaN; nullopt if the dtype has no
/// values. Errors: reading the file.
tl::expected<std::optional<float>, Error> plainAmax(const StoredTensor& tensor);

} // namespace octavo::checkpoint
