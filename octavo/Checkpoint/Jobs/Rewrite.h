// A checkpoint rewritten: what the planners of dequantize, quantize and convert give.
#pragma once

#include "octavo/Checkpoint/Jobs/Job.h"
#include "octavo/Checkpoint/Layouts/Layout.h"

#include <tl/expected.hpp>

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
  std::uint64_t bytesAfter;
  Accuracy accuracy = Accuracy::Unsaid;
};

/// A weight that could have been changed and is not.
struct LeftAlone {
  std::string name;
  std::string why;
};

/// A plan with what is to be said of it. The folder must outlive it.
struct Rewrite {
  std::unique_ptr<const Inventory> inventory; ///< that the steps point into; null for plain ones
  Job job;
  std::vector<LayerChange> changes;
  std::vector<LeftAlone> left;
  Findings notes; ///< what is lost, or differs from what one might expect
};

/// Builds shards of the source's names and sharding: what is put in the place of a tensor goes to
/// the shard that had it.
class ShardBuilder {
public:
  explicit ShardBuilder(const Folder& folder) : folder(folder) {}

  /// This step makes what takes the tensor's place.
  void replace(const StoredTensor& tensor, std::unique_ptr<Step> step);
  /// This one makes something in its place, too. Precondition: it was replaced or dropped.
  void add(const StoredTensor& tensor, std::unique_ptr<Step> step);
  /// Nothing takes its place: it is dropped, or part of what a step makes elsewhere.
  void drop(const StoredTensor& tensor);

  /// The job of all shards, the tensors that were not mentioned copied, with the source's
  /// configuration. Shards of nothing are left out. Error: two tensors of one name, since the
  /// source has one that is named like a part of a layer.
  tl::expected<Job, Error> build(Json options);

private:
  const Folder& folder;
  std::map<const SafetensorsEntry*, std::vector<std::unique_ptr<Step>>> places;
};

/// Error: the checkpoint has what octavo cannot read, or says that it computes with more than the
/// weights; what is written of it under another layout's configuration would be another model's.
tl::expected<void, Error> refuseUnread(const Folder& folder, const Inventory& inventory);

/// Error: a doubt of reading the layout that is not allowed.
tl::expected<void, Error> refuseDoubts(const Inventory& inventory, Doubts allowed);

/// Drops all parts of a layer but the elements, which a step replaces.
void dropScales(ShardBuilder& shards, const Layer& layer);

/// Drops the scales of caches that are there a second time under another name.
void dropRepeated(ShardBuilder& shards, const Inventory& inventory);

} // namespace octavo::checkpoint
