#include "octavo/Checkpoint/Jobs/Job.h"

#include "octavo/Checkpoint/Jobs/JobFolder.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <set>

namespace octavo::checkpoint {

namespace {

class CopyStep final : public Step {
public:
  CopyStep(const StoredTensor& tensor, PlannedTensor as, bool renames)
      : tensor(tensor), planned(std::move(as)), isRenamed(renames) {}
  std::span<const PlannedTensor> outputs() const override { return {&planned, 1}; }
  std::span<const Piece> pieces() const override { return {&kWhole, 1}; }
  std::uint64_t pieceMemory() const override {
    return std::min(tensor.size(), ShardWriter::kCopyPiece);
  }
  tl::expected<void, Error> make(std::size_t, const Sink& sink, Scratch& scratch) override {
    return sink.copy(0, tensor, scratch.stored);
  }
  const StoredTensor* copied() const override { return isRenamed ? nullptr : &tensor; }

private:
  static constexpr Piece kWhole{0, 1};
  StoredTensor tensor;
  PlannedTensor planned;
  bool isRenamed;
};

class BytesStep final : public Step {
public:
  BytesStep(PlannedTensor planned, std::vector<std::byte> bytes)
      : planned(std::move(planned)), bytes(std::move(bytes)) {}
  std::span<const PlannedTensor> outputs() const override { return {&planned, 1}; }
  std::span<const Piece> pieces() const override { return {&kWhole, 1}; }
  tl::expected<void, Error> make(std::size_t, const Sink& sink, Scratch&) override {
    return sink.write(0, 0, bytes);
  }

private:
  static constexpr Piece kWhole{0, 1};
  PlannedTensor planned;
  std::vector<std::byte> bytes;
};

} // namespace

std::unique_ptr<Step> copyStep(const StoredTensor& tensor) {
  return std::make_unique<CopyStep>(
      tensor, PlannedTensor{tensor.name(), tensor.entry->dtype, tensor.entry->shape}, false);
}

std::unique_ptr<Step> copyStep(const StoredTensor& tensor, PlannedTensor as) {
  return std::make_unique<CopyStep>(tensor, std::move(as), true);
}

std::unique_ptr<Step> bytesStep(PlannedTensor planned, std::vector<std::byte> bytes) {
  return std::make_unique<BytesStep>(std::move(planned), std::move(bytes));
}

std::uint64_t Step::bytes() const {
  std::uint64_t bytes = 0;
  for (const PlannedTensor& tensor : outputs())
    bytes += storedBytes(*tensor.dtype, tensor.shape);
  return bytes;
}

std::vector<PlannedTensor> PlannedShard::tensors() const {
  std::vector<PlannedTensor> tensors;
  for (const std::unique_ptr<Step>& step : steps)
    tensors.insert(tensors.end(), step->outputs().begin(), step->outputs().end());
  return tensors;
}

std::uint64_t PlannedShard::bytes() const {
  std::uint64_t bytes = 0;
  for (const std::unique_ptr<Step>& step : steps)
    bytes += step->bytes();
  return bytes;
}

std::uint64_t Job::bytes() const {
  std::uint64_t bytes = 0;
  for (const PlannedShard& shard : shards)
    bytes += shard.bytes();
  return bytes;
}

/// The source shard of which `planned` is a byte-for-byte copy; null if there is none.
static const SafetensorsFile* copyOf(const PlannedShard& planned) {
  const SafetensorsFile* source = nullptr;
  for (const std::unique_ptr<Step>& step : planned.steps) {
    const StoredTensor* tensor = step->copied();
    if (!tensor || (source && tensor->shard != source))
      return nullptr;
    source = tensor->shard;
  }
  if (!source || source->entries().size() != planned.steps.size() ||
      source->metadata() != planned.metadata)
    return nullptr;
  return source;
}

namespace {

class Run {
public:
  Run(Job& job, JobFolder& folder, const WorkSettings& settings)
      : job(job), folder(folder), settings(settings) {}

  tl::expected<JobResult, Error> all() {
    JobResult result;
    for (const PlannedShard& shard : job.shards) {
      if (folder.has(shard)) {
        ++result.shardsReused;
        settings.advance(shard.bytes());
        continue;
      }
      if (auto done = make(shard); !done)
        return tl::unexpected(std::move(done.error()));
      result.bytesWritten += shard.bytes();
    }
    if (auto synced = waitForSync(); !synced)
      return tl::unexpected(std::move(synced.error()));
    if (auto finished = folder.finish(job); !finished)
      return tl::unexpected(std::move(finished.error()));
    for (const PlannedShard& shard : job.shards)
      for (const Json& report : folder.reports(shard.name))
        result.reports.push_back(report);
    return result;
  }

private:
  tl::expected<void, Error> make(const PlannedShard& shard) {
    if (const SafetensorsFile* source = copyOf(shard)) {
      settings.advance(shard.bytes());
      return folder.copyShard(shard, *source);
    }
    return measure(shard)
        .and_then([&] { return folder.placeOf(shard.name); })
        .and_then([&](const std::filesystem::path& path) {
          return ShardWriter::create(path, shard.tensors(), shard.metadata);
        })
        .and_then([&](ShardWriter writer) {
          return makePieces(shard, writer)
              .and_then([&] { return folder.remember(shard); })
              .and_then([&] { return sync(std::move(writer)); });
        });
  }

  /// Starts to sync a shard and to rename it, while the next shard is made: the disk works while
  /// the processors compute. Returns the error of the previous shard's sync.
  tl::expected<void, Error> sync(ShardWriter writer) {
    auto before = waitForSync();
    syncing = std::async(std::launch::async,
                         [writer = std::move(writer)]() mutable { return writer.place(); });
    return before;
  }
  tl::expected<void, Error> waitForSync() {
    return syncing.valid() ? syncing.get() : tl::expected<void, Error>();
  }

  tl::expected<void, Error> measure(const PlannedShard& shard) {
    struct Task {
      Measurement* measurement;
      std::size_t piece;
    };
    std::vector<Task> tasks;
    for (const std::unique_ptr<Step>& step : shard.steps)
      if (Measurement* needed = step->needs(); needed && measured.insert(needed).second)
        for (std::size_t i = 0; i < needed->pieces().size(); ++i)
          tasks.push_back({needed, i});
    return inParallel(settings, memoryOf(shard), tasks.size(),
                      [&](std::size_t i, Scratch& scratch) {
                        return tasks[i].measurement->measure(tasks[i].piece, scratch);
                      });
  }

  static std::uint64_t memoryOf(const PlannedShard& shard) {
    std::uint64_t memory = 0;
    for (const std::unique_ptr<Step>& step : shard.steps)
      memory = std::max(memory, step->pieceMemory());
    return memory;
  }

  tl::expected<void, Error> makePieces(const PlannedShard& shard, ShardWriter& writer) {
    struct Task {
      Step* step;
      std::size_t piece;
      std::size_t firstOutput;
      std::uint64_t bytes; ///< progress to report, about this piece's share
    };
    std::vector<Task> tasks;
    std::size_t outputs = 0;
    for (const std::unique_ptr<Step>& step : shard.steps) {
      const std::uint64_t bytes = step->bytes();
      const std::size_t pieces = step->pieces().size();
      for (std::size_t i = 0; i < pieces; ++i)
        tasks.push_back({step.get(), i, outputs, bytes * (i + 1) / pieces - bytes * i / pieces});
      outputs += step->outputs().size();
    }
    return inParallel(
        settings, memoryOf(shard), tasks.size(), [&](std::size_t i, Scratch& scratch) {
          const Task& task = tasks[i];
          auto made = task.step->make(task.piece, Sink(writer, task.firstOutput), scratch);
          settings.advance(task.bytes);
          return made;
        });
  }

  Job& job;
  JobFolder& folder;
  const WorkSettings& settings;
  std::set<const Measurement*> measured;
  std::future<tl::expected<void, Error>> syncing; ///< sync of the previous shard, at most one
};

} // namespace

tl::expected<JobResult, Error> runJob(Job& job, const std::filesystem::path& folder,
                                      const WorkSettings& settings) {
  auto output = JobFolder::open(job, folder);
  if (!output)
    return tl::unexpected(std::move(output.error()));
  auto result = Run(job, *output, settings).all(); // waits for the last sync
  if (!result)
    result.error().fix += fmt::format(
        "{}{}", result.error().fix.empty() ? "" : "; ",
        output->giveUp()
            ? "nothing was left behind"
            : fmt::format("what is in {} stays, and the same command continues from there",
                          folder.string()));
  return result;
}

} // namespace octavo::checkpoint
