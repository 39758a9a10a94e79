// Rewrite: the plan of a rewritten checkpoint, and the base class of the planners of quantize,
// dequantize and convert.
#pragma once

#include "octavo/Checkpoint/Jobs/Job.h"
#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/Layouts/Layout.h"

#include <tl/expected.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace octavo::checkpoint {

/// How exactly a weight's quantized values are kept.
enum class Accuracy : std::uint8_t {
  Unsaid,         ///< not quantized before, or no longer
  Exact,          ///< every value stays, bit for bit
  RoundedDivisor, ///< the inverse of the outer scale is not an f32
  Requantized,    ///< rounded again, in another format
};

/// The change of one weight.
struct LayerChange {
  std::string name; ///< "model.layers.0.self_attn.q_proj.weight"
  std::string from; ///< dtype or scaled format before
  std::string to;   ///< dtype or scaled format after
  std::uint64_t elements;
  std::uint64_t bytesBefore; ///< with scales
  std::uint64_t bytesAfter = 0;
  Accuracy accuracy = Accuracy::Unsaid;
};

/// A weight that stays unchanged, and why.
struct LeftAlone {
  std::string name;
  std::string why;
};

/// A plan and its description for the user. The folder must outlive it.
struct Rewrite {
  std::unique_ptr<Inventory> inventory; ///< the steps point into it; null for plain weights
  Job job;
  std::vector<LayerChange> changes;
  std::vector<LeftAlone> left; ///< weights that could have been changed and are not
  Findings notes;              ///< losses and surprises
};

/// What to do if the checkpoint has parts that octavo cannot read or apply, without which the rest
/// is another model. Only an output of the same layout may copy them.
enum class UnreadParts : std::uint8_t { Refused, Copied };

/// Base class of planners: reads the layers and collects the shards of the output. Output shards
/// have the source's names; a step that replaces a tensor goes to the tensor's shard.
class RewritePlanner {
protected:
  explicit RewritePlanner(const Folder& folder) : folder(folder) {}

  /// Reads the layers into `inventory()`. Errors: unread parts, if `unread` is Refused; a doubt
  /// about the layout that is not allowed.
  tl::expected<void, Error> read(const Layout& layout, Doubts allowed, UnreadParts unread);
  Inventory& inventory() { return *rewrite.inventory; }
  /// Calls `place` with a reader of each layer; stops at an error.
  tl::expected<void, Error>
  forLayers(const std::function<tl::expected<void, Error>(const LayerReader&)>& place) const;

  /// Replaces a layer, with all its scales, by the outputs of `step`. Records the change with the
  /// bytes of the outputs; its accuracy is Unsaid until the caller sets it.
  LayerChange& replace(const Layer& layer, std::string_view to, std::unique_ptr<Step> step);
  /// Replaces a plain weight. `change` is given without bytesAfter.
  LayerChange& replace(const StoredTensor& weight, LayerChange change, std::unique_ptr<Step> step);
  /// Replaces a tensor that is not a weight.
  void replace(const StoredTensor& tensor, std::unique_ptr<Step> step);
  /// Adds a further step in place of a tensor. Precondition: the tensor was replaced or dropped.
  void add(const StoredTensor& tensor, std::unique_ptr<Step> step);
  /// Drops a tensor: it is not in the output, or another step writes it.
  void drop(const StoredTensor& tensor);
  /// Drops tensors without effect: zero points of 0, and cache scales that repeat a scale under
  /// another name.
  void dropIdle();
  /// Drops buffers of a quantizer that were saved with the weights, and adds a note.
  void dropLeakedState();
  /// Records that a weight stays unchanged.
  void leave(std::string name, std::string why);

  /// Completes the rewrite: tensors that were not mentioned are copied, the source's configuration
  /// is kept, and shards that lose all tensors are left out. Error: two tensors with the same name,
  /// because the source has a tensor named like a part of a layer.
  tl::expected<Rewrite, Error> finish(Json options);
  /// The same, with the configuration that `layout` writes for `choice`.
  tl::expected<Rewrite, Error> finish(Json options, const Layout& layout,
                                      const LayoutChoice& choice);

  const Folder& folder;
  Rewrite rewrite; ///< complete except for the job

private:
  std::map<const SafetensorsEntry*, std::vector<std::unique_ptr<Step>>> places;
};

} // namespace octavo::checkpoint
