// A new checkpoint made from another: planned whole before a byte is written, done piece by piece
// in bounded memory on several threads, continued after an interruption with the same bytes.
#pragma once

#include "octavo/Checkpoint/Files/PageBuffer.h"
#include "octavo/Checkpoint/Files/ShardWriter.h"
#include "octavo/Checkpoint/Folder.h"
#include "octavo/Checkpoint/Piece.h"
#include "octavo/Checkpoint/Work.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace octavo::checkpoint {

/// Where a step puts the bytes of its outputs.
class Sink {
public:
  Sink(ShardWriter& writer, std::size_t first) : writer(&writer), first(first) {}
  /// Room for bytes of an output, from which they go to the disk without a copy.
  std::span<std::byte> place(std::size_t output, std::uint64_t offset, std::size_t size,
                             PageBuffer& buffer) const {
    return buffer.place(writer->position(first + output, offset), size);
  }
  tl::expected<void, Error> write(std::size_t output, std::uint64_t offset,
                                  std::span<const std::byte> bytes) const {
    return writer->write(first + output, offset, bytes);
  }
  tl::expected<void, Error> copy(std::size_t output, const StoredTensor& tensor,
                                 PageBuffer& buffer) const {
    return writer->copy(first + output, *tensor.shard, *tensor.entry, buffer);
  }

private:
  ShardWriter* writer;
  std::size_t first;
};

/// Something that must be known of tensors before the first step that needs it, such as an amax.
/// Shared by steps of several shards.
class Measurement {
public:
  virtual ~Measurement() = default;
  virtual std::span<const Piece> pieces() const = 0;
  /// Any order, any thread. Errors: what the step could not say later.
  virtual tl::expected<void, Error> measure(std::size_t piece, Scratch& scratch) = 0;
};

/// Makes some tensors of one shard.
class Step {
public:
  virtual ~Step() = default;
  virtual std::span<const PlannedTensor> outputs() const = 0;
  std::uint64_t bytes() const; ///< of the outputs
  /// What must be measured before; null where nothing must.
  virtual Measurement* needs() const { return nullptr; }
  /// Every piece is made once.
  virtual std::span<const Piece> pieces() const = 0;
  /// Bytes of memory that a piece takes, at most.
  virtual std::uint64_t pieceMemory() const { return 0; }
  virtual tl::expected<void, Error> make(std::size_t piece, const Sink& sink, Scratch& scratch) = 0;
  /// What the user hears of it when all pieces are made; null for nothing.
  virtual Json report() const { return nullptr; }
  /// The tensor that is copied unchanged, where that is all there is; null elsewhere.
  virtual const StoredTensor* copied() const { return nullptr; }
};

/// A tensor as it is, perhaps under another name and with another dtype of the same bytes.
std::unique_ptr<Step> copyStep(const StoredTensor& tensor);
std::unique_ptr<Step> copyStep(const StoredTensor& tensor, PlannedTensor as);
/// A few bytes that are known when the job is planned.
std::unique_ptr<Step> bytesStep(PlannedTensor planned, std::vector<std::byte> bytes);

struct PlannedShard {
  std::string name; ///< of the file
  std::vector<std::unique_ptr<Step>> steps;
  SafetensorsMetadata metadata;

  std::vector<PlannedTensor> tensors() const;
  std::uint64_t bytes() const; ///< of the tensors
};

/// A plan. Its folder must outlive it.
struct Job {
  const Folder* source;
  /// All that decides the output besides the input, for the comparison with an interrupted job.
  Json options;
  std::vector<PlannedShard> shards;
  Json config;      ///< null: none is written
  Json quantConfig; ///< hf_quant_config.json; null: none is written

  std::uint64_t bytes() const; ///< of all tensors
};

struct JobResult {
  std::uint64_t bytesWritten = 0; ///< of tensors, in this run
  std::size_t shardsReused = 0;   ///< found whole from an earlier run
  std::vector<Json> reports;      ///< of all steps that have one, in the order of the plan
};

/// Does the job into `folder`, which is created if need be. Shards are written under their names
/// when they are whole; index, configurations and the other files of the source come last. Until
/// then the folder has a file kJobFile that says which job it belongs to, and running the same job
/// again does what is not there. A job that stops before a shard is whole leaves nothing. Errors: a
/// folder that is the source's, lies in it, or has anything but this job; another process at work
/// in it; no space; what the steps say.
tl::expected<JobResult, Error> runJob(Job& job, const std::filesystem::path& folder,
                                      const WorkSettings& settings = {});

} // namespace octavo::checkpoint
