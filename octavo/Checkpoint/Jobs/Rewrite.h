// A checkpoint rewritten: what the planners of quantize, dequantize and convert share and give.
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

/// What becomes of quantized values in another spelling.
enum class Accuracy : std::uint8_t {
  Unsaid,         ///< they were not quantized, or are no longer
  Exact,          ///< each stays, bit for bit
  RoundedDivisor, ///< their outer scale's inverse is no f32
  Requantized,
};

/// What becomes of one weight.
struct LayerChange {
  std::string name; ///< "model.layers.0.self_attn.q_proj.weight"
  std::string from; ///< a dtype or a scaled format
  std::string to;
  std::uint64_t elements;
  std::uint64_t bytesBefore; ///< with its scales
  std::uint64_t bytesAfter = 0;
  Accuracy accuracy = Accuracy::Unsaid;
};

/// A weight that could have been changed and is not.
struct LeftAlone {
  std::string name;
  std::string why;
};

/// A plan with what is to be said of it. The folder must outlive it.
struct Rewrite {
  std::unique_ptr<Inventory> inventory; ///< that the steps point into; null for plain ones
  Job job;
  std::vector<LayerChange> changes;
  std::vector<LeftAlone> left;
  Findings notes; ///< what is lost, or differs from what one might expect
};

/// What becomes of parts that octavo cannot read or does not apply, without which the rest is
/// another model's: the same layout goes on saying them, another cannot.
enum class UnreadParts : std::uint8_t { Refused, Copied };

/// What the planners share: the layers that are read, and the shards of the output. They have the
/// source's names and sharding: what is put in the place of a tensor goes to the shard that had it.
class RewritePlanner {
protected:
  explicit RewritePlanner(const Folder& folder) : folder(folder) {}

  /// Reads the layers into `inventory()`. Errors: parts that are unread, if they are refused; a
  /// doubt of reading the layout that is not allowed.
  tl::expected<void, Error> read(const Layout& layout, Doubts allowed, UnreadParts unread);
  Inventory& inventory() { return *rewrite.inventory; }
  /// Opens one layer after the other, until `place` fails.
  tl::expected<void, Error>
  forLayers(const std::function<tl::expected<void, Error>(const LayerReader&)>& place) const;

  /// `step` makes what takes the place of a layer, all parts of it that the output has. The change
  /// that is recorded: of the bytes that the step makes, its accuracy unsaid.
  LayerChange& replace(const Layer& layer, std::string_view to, std::unique_ptr<Step> step);
  /// The same of a plain weight; `change` without the bytes after it.
  LayerChange& replace(const StoredTensor& weight, LayerChange change, std::unique_ptr<Step> step);
  /// `step` makes what takes the place of a tensor that is not a weight.
  void replace(const StoredTensor& tensor, std::unique_ptr<Step> step);
  /// This one makes something in its place, too. Precondition: it was replaced or dropped.
  void add(const StoredTensor& tensor, std::unique_ptr<Step> step);
  /// Nothing takes its place: it is dropped, or part of what a step makes elsewhere.
  void drop(const StoredTensor& tensor);
  /// Drops what changes nothing: zero points of 0, and scales of caches that are there a second
  /// time under another name.
  void dropIdle();
  /// Drops buffers of the quantizer that were saved with the weights, and notes it.
  void dropLeakedState();
  void leave(std::string name, std::string why);

  /// The rewrite of all shards, the tensors that were not mentioned copied, with the source's
  /// configuration. Shards of nothing are left out. Error: two tensors of one name, since the
  /// source has one that is named like a part of a layer.
  tl::expected<Rewrite, Error> finish(Json options);
  /// The same with the configuration of `layout`.
  tl::expected<Rewrite, Error> finish(Json options, const Layout& layout,
                                      const LayoutChoice& choice);

  const Folder& folder;
  Rewrite rewrite; ///< without its job

private:
  std::map<const SafetensorsEntry*, std::vector<std::unique_ptr<Step>>> places;
};

} // namespace octavo::checkpoint
