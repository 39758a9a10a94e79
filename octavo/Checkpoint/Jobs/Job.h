// A job makes a new checkpoint from another one. It is planned completely before a byte is written.
// It runs piece by piece on several threads within a bound of memory. After an interruption it
// continues and gives the same bytes.
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

/// Writes the outputs of one step. `output` is an index in Step::outputs(), `offset` is in bytes
/// from the tensor's start.
class Sink {
public:
  /// `first`: index in the shard of the step's first output.
  Sink(ShardWriter& writer, std::size_t first) : writer(&writer), first(first) {}
  /// Memory in `buffer` for bytes of an output that can go to the disk without a copy.
  std::span<std::byte> place(std::size_t output, std::uint64_t offset, std::size_t size,
                             PageBuffer& buffer) const {
    return buffer.place(writer->position(first + output, offset), size);
  }
  /// Writes bytes of an output; see ShardWriter::write.
  tl::expected<void, Error> write(std::size_t output, std::uint64_t offset,
                                  std::span<const std::byte> bytes) const {
    return writer->write(first + output, offset, bytes);
  }
  /// Copies all bytes of `tensor` to an output; see ShardWriter::copy.
  tl::expected<void, Error> copy(std::size_t output, const StoredTensor& tensor,
                                 PageBuffer& buffer) const {
    return writer->copy(first + output, *tensor.shard, *tensor.entry, buffer);
  }

private:
  ShardWriter* writer;
  std::size_t first;
};

/// A property of tensors that must be known before the first step that needs it, such as an amax.
/// Several steps and shards may share it.
class Measurement {
public:
  virtual ~Measurement() = default;
  /// The pieces to measure. measure is called once for each.
  virtual std::span<const Piece> pieces() const = 0;
  /// Measures one piece. In any order, from any thread. Errors: a value for which the step would
  /// fail later; reading the file.
  virtual tl::expected<void, Error> measure(std::size_t piece, Scratch& scratch) = 0;
};

/// Makes one or several tensors of one shard.
class Step {
public:
  virtual ~Step() = default;
  /// The tensors that the step makes.
  virtual std::span<const PlannedTensor> outputs() const = 0;
  std::uint64_t bytes() const; ///< of all outputs
  /// What must be measured before make; null: nothing.
  virtual Measurement* needs() const { return nullptr; }
  /// The pieces; make is called once for each.
  virtual std::span<const Piece> pieces() const = 0;
  /// Memory that make needs for a piece, at most, in bytes.
  virtual std::uint64_t pieceMemory() const { return 0; }
  /// Writes the bytes of one piece. From any thread, in any order.
  virtual tl::expected<void, Error> make(std::size_t piece, const Sink& sink, Scratch& scratch) = 0;
  /// Results to report to the user when all pieces are made; null: nothing.
  virtual Json report() const { return nullptr; }
  /// The source tensor if the step only copies it unchanged; else null.
  virtual const StoredTensor* copied() const { return nullptr; }
};

/// A step that copies a tensor: unchanged, or under the name, dtype and shape of `as`, which must
/// have the same number of bytes.
std::unique_ptr<Step> copyStep(const StoredTensor& tensor);
std::unique_ptr<Step> copyStep(const StoredTensor& tensor, PlannedTensor as);
/// A step that writes bytes known at planning time.
std::unique_ptr<Step> bytesStep(PlannedTensor planned, std::vector<std::byte> bytes);

/// A shard of the output.
struct PlannedShard {
  std::string name; ///< file name relative to the folder
  std::vector<std::unique_ptr<Step>> steps;
  SafetensorsMetadata metadata; ///< written to the header

  /// The outputs of all steps.
  std::vector<PlannedTensor> tensors() const;
  std::uint64_t bytes() const; ///< of all tensors
};

/// A plan. `source` must outlive it.
struct Job {
  const Folder* source;
  /// Everything besides the input that determines the output. Compared with the options of an
  /// interrupted job in the folder.
  Json options;
  std::vector<PlannedShard> shards;
  Json config;      ///< content of config.json; null: none is written
  Json quantConfig; ///< content of hf_quant_config.json; null: none is written

  std::uint64_t bytes() const; ///< of all tensors
};

/// What a run did.
struct JobResult {
  std::uint64_t bytesWritten = 0; ///< bytes of tensors written in this run
  std::size_t shardsReused = 0;   ///< shards that an earlier run has completed
  std::vector<Json> reports;      ///< reports of all steps that have one, in plan order
};

/// Runs the job. `folder` is created if it does not exist. Each shard gets its name when it is
/// complete; index, configurations and the source's other files come last. Until then the folder
/// contains kJobFile, and running the same job again makes only what is missing. A job that fails
/// before the first shard is complete leaves nothing behind. Errors:
///  - `folder` is the source's folder, lies in it or contains it, or holds anything but this job;
///  - another process works in it;
///  - not enough space;
///  - the source changes while it is read;
///  - errors of the steps.
tl::expected<JobResult, Error> runJob(Job& job, const std::filesystem::path& folder,
                                      const WorkSettings& settings = {});

} // namespace octavo::checkpoint
