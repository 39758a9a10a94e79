#include "octavo/Checkpoint/Jobs/Job.h"

#include "octavo/Checkpoint/Files/TemporaryName.h"
#include "octavo/Checkpoint/Jobs/TestFiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <sys/file.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace octavo::checkpoint {
namespace {

namespace fs = std::filesystem;
using numerics::Tensor;

void writeText(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// Every file below a folder and its bytes.
std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(folder)] = fileText(entry.path());
  return files;
}

/// Copies a U8 tensor with all bits flipped, row by row, and fails at a given row.
class FlipStep final : public Step {
public:
  FlipStep(const StoredTensor& tensor, int failsAt)
      : tensor(tensor),
        planned{tensor.name() + ".flipped", tensor.entry->dtype, tensor.entry->shape},
        failsAt(failsAt) {
    for (std::int64_t row = 0; row < tensor.entry->shape[0]; ++row)
      rows.push_back({row, row + 1});
  }
  std::span<const PlannedTensor> outputs() const override { return {&planned, 1}; }
  std::span<const Piece> pieces() const override { return rows; }
  std::uint64_t pieceMemory() const override { return 1 << 20; }
  tl::expected<void, Error> make(std::size_t piece, const Sink& sink, Scratch& scratch) override {
    if (static_cast<int>(piece) == failsAt)
      return tl::unexpected(Error{.file = "f", .problem = "was told to fail"});
    const auto width = static_cast<std::size_t>(tensor.entry->shape[1]);
    std::vector<std::byte> row(width);
    if (auto fetched = tensor.fetch(piece * width, row); !fetched)
      return fetched;
    scratch.codes.assign(row.begin(), row.end());
    for (std::byte& byte : scratch.codes)
      byte = ~byte;
    return sink.write(0, piece * width, scratch.codes);
  }
  Json report() const override { return planned.name; }

private:
  StoredTensor tensor;
  PlannedTensor planned;
  std::vector<Piece> rows;
  int failsAt;
};

/// A source with three shards of one U8 tensor each, an index, a configuration and other files.
class JobTest : public testing::Test {
protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/octavo-job-XXXXXX";
    root = ::mkdtemp(name.data());
    Json map = Json::object();
    for (int i = 0; i < 3; ++i) {
      Tensor tensor = Tensor::zeros(numerics::IntegerType{8, true}, {37, 100});
      for (std::size_t k = 0; k < tensor.bytes.size(); ++k)
        tensor.bytes[k] = static_cast<std::byte>(k * (i + 3));
      const std::string tensorName = "t" + std::to_string(i);
      const NamedTensor named{tensorName, &tensor};
      fs::create_directories(root / "in");
      ASSERT_TRUE(
          writeSafetensors(root / "in" / shardName(i), std::span(&named, 1), {{"format", "pt"}}));
      map[tensorName] = shardName(i);
    }
    writeText(root / "in/model.safetensors.index.json",
              Json{{"metadata", {{"total_size", 1}, {"kept", "yes"}}}, {"weight_map", map}}.dump());
    writeText(root / "in/config.json", R"({"model_type":"m"})");
    writeText(root / "in/tokenizer.json", "tokens");
    auto opened = Folder::open(root / "in");
    ASSERT_TRUE(opened) << opened.error().message();
    folder = std::make_unique<Folder>(std::move(*opened));
  }
  void TearDown() override { fs::remove_all(root); }

  static std::string shardName(int i) {
    return "model-0000" + std::to_string(i + 1) + "-of-00003.safetensors";
  }

  Job emptyJob() const {
    Job job{.source = folder.get(),
            .options = {{"do", "it"}},
            .shards = {},
            .config = nullptr,
            .quantConfig = nullptr};
    job.config = folder->config();
    return job;
  }
  Job copyJob() const {
    Job job = emptyJob();
    for (int i = 0; i < 3; ++i) {
      PlannedShard shard{shardName(i), {}, folder->shard(i).metadata()};
      shard.steps.push_back(copyStep(folder->tensors()[i]));
      job.shards.push_back(std::move(shard));
    }
    return job;
  }
  /// A job of FlipSteps that fails at `failsAt`, a pair of shard and row.
  Job flipJob(std::pair<int, int> failsAt = {-1, -1}) const {
    Job job = emptyJob();
    for (int i = 0; i < 3; ++i) {
      PlannedShard shard{shardName(i), {}, {}};
      shard.steps.push_back(std::make_unique<FlipStep>(folder->tensors()[i],
                                                       failsAt.first == i ? failsAt.second : -1));
      shard.steps.push_back(copyStep(folder->tensors()[i]));
      job.shards.push_back(std::move(shard));
    }
    return job;
  }

  std::string refusal(Job job, const fs::path& out) {
    const auto result = runJob(job, out);
    return result ? "" : result.error().message();
  }

  fs::path root;
  std::unique_ptr<Folder> folder;
};

TEST_F(JobTest, aCopyIsTheSameBytes) {
  Job job = copyJob();
  const auto result = runJob(job, root / "out");
  ASSERT_TRUE(result) << result.error().message();
  auto in = contents(root / "in");
  auto out = contents(root / "out");
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(in[shardName(i)] == out[shardName(i)]);
  EXPECT_EQ(out["tokenizer.json"], "tokens");
  const Json index = Json::parse(out["model.safetensors.index.json"]);
  EXPECT_EQ(index["metadata"]["total_size"], 3 * 37 * 100);
  EXPECT_EQ(index["metadata"]["kept"], "yes");
  EXPECT_EQ(index["weight_map"], Json::parse(in["model.safetensors.index.json"])["weight_map"]);
  EXPECT_EQ(Json::parse(out["config.json"]), Json::parse(in["config.json"]));
  EXPECT_EQ(out.size(), in.size());
  EXPECT_TRUE(Folder::open(root / "out"));
}

TEST_F(JobTest, theBytesDependOnNeitherThreadsNorMemory) {
  Job first = flipJob();
  ASSERT_TRUE(runJob(first, root / "one", {.threads = 1}));
  for (const WorkSettings& settings :
       {WorkSettings{.memory = 1, .threads = 7}, WorkSettings{.threads = 7}}) {
    Job again = flipJob();
    ASSERT_TRUE(runJob(again, root / "many", settings));
    EXPECT_TRUE(contents(root / "one") == contents(root / "many"));
    fs::remove_all(root / "many");
  }
}

TEST_F(JobTest, continuesWhereItStopped) {
  const auto before = contents(root / "in");
  Job whole = flipJob();
  const auto expected = runJob(whole, root / "whole");
  ASSERT_TRUE(expected);
  EXPECT_EQ(expected->reports.size(), 3u);

  EXPECT_NE(refusal(flipJob({1, 20}), root / "out").find("told to fail"), std::string::npos);
  auto left = contents(root / "out");
  EXPECT_EQ(left.size(), 2u) << "the first shard and the job's file";
  EXPECT_TRUE(left[shardName(0)] == fileText(root / "whole" / shardName(0)));
  // A killed process leaves temporary files. Other files stay.
  writeText(root / "out" / temporaryName(), "torn");
  writeText(root / "out/sub" / temporaryName(), "{");
  writeText(root / "out/mine.txt.Ab3xYz", "mine");

  Job again = flipJob();
  std::uint64_t bytes = 0;
  const auto result =
      runJob(again, root / "out", {.threads = 1, .progress = [&](std::uint64_t n) { bytes += n; }});
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->shardsReused, 1u);
  EXPECT_EQ(result->bytesWritten, 2u * 2 * 3700);
  EXPECT_EQ(bytes, 3u * 2 * 3700);
  EXPECT_EQ(result->reports, expected->reports) << "also of the shard that was there";
  auto out = contents(root / "out");
  EXPECT_EQ(out.erase("mine.txt.Ab3xYz"), 1u);
  EXPECT_TRUE(out == contents(root / "whole"));
  EXPECT_TRUE(contents(root / "in") == before);
}

/// Measures the sum of all bytes of a tensor, row by row.
class SumMeasurement final : public Measurement {
public:
  explicit SumMeasurement(const StoredTensor& tensor) : tensor(tensor) {
    for (std::int64_t row = 0; row < tensor.entry->shape[0]; ++row)
      rows.push_back({row, row + 1});
  }
  std::span<const Piece> pieces() const override { return rows; }
  tl::expected<void, Error> measure(std::size_t piece, Scratch&) override {
    const auto width = static_cast<std::size_t>(tensor.entry->shape[1]);
    std::vector<std::byte> row(width);
    if (auto fetched = tensor.fetch(piece * width, row); !fetched)
      return fetched;
    for (std::byte byte : row)
      sum += std::to_integer<std::uint64_t>(byte);
    ++calls;
    return {};
  }

  std::atomic<std::uint64_t> sum{0};
  std::atomic<std::size_t> calls{0};

private:
  StoredTensor tensor;
  std::vector<Piece> rows;
};

/// Writes a measured sum, one byte a piece, and counts how many pieces run at the same time.
class SumStep final : public Step {
public:
  SumStep(std::string name, std::shared_ptr<SumMeasurement> measured)
      : measured(std::move(measured)), planned{std::move(name), findSafetensorsDtype("U64"), {1}} {}
  std::span<const PlannedTensor> outputs() const override { return {&planned, 1}; }
  Measurement* needs() const override { return measured.get(); }
  std::span<const Piece> pieces() const override { return kBytes; }
  std::uint64_t pieceMemory() const override { return kMemory; }
  tl::expected<void, Error> make(std::size_t piece, const Sink& sink, Scratch&) override {
    const int now = ++inWork;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    // Gives another piece time to run beside this one.
    for (int i = 0; i < 100 && most < 2; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto byte = static_cast<std::byte>(measured->sum >> (8 * piece) & 0xff);
    auto written = sink.write(0, piece, std::span(&byte, 1));
    --inWork;
    return written;
  }

  static constexpr std::uint64_t kMemory = 1 << 20;
  std::atomic<int> inWork{0}, most{0};

private:
  static constexpr Piece kBytes[] = {{0, 1}, {1, 2}, {2, 3}, {3, 4},
                                     {4, 5}, {5, 6}, {6, 7}, {7, 8}};
  std::shared_ptr<SumMeasurement> measured;
  PlannedTensor planned;
};

TEST_F(JobTest, aMeasurementIsMadeOnceBeforeAllStepsOfAllShardsThatNeedIt) {
  const StoredTensor& tensor = folder->tensors()[1];
  std::uint64_t expected = 0;
  const auto bytes = tensor.bytes();
  ASSERT_TRUE(bytes);
  for (std::byte byte : *bytes)
    expected += std::to_integer<std::uint64_t>(byte);
  auto measured = std::make_shared<SumMeasurement>(tensor);
  Job job = emptyJob();
  for (int i = 0; i < 2; ++i) {
    PlannedShard shard{shardName(i), {}, {}};
    shard.steps.push_back(std::make_unique<SumStep>("a" + std::to_string(i), measured));
    shard.steps.push_back(std::make_unique<SumStep>("b" + std::to_string(i), measured));
    job.shards.push_back(std::move(shard));
  }
  ASSERT_TRUE(runJob(job, root / "out"));
  EXPECT_EQ(measured->calls, 37u) << "each row once";
  for (int i = 0; i < 2; ++i) {
    const auto file = SafetensorsFile::open(root / "out" / shardName(i));
    ASSERT_TRUE(file);
    ASSERT_EQ(file->entries().size(), 2u);
    for (const SafetensorsEntry& entry : file->entries()) {
      std::uint64_t found = 0;
      std::memcpy(&found, file->bytes(entry)->data(), sizeof found);
      EXPECT_EQ(found, expected) << entry.name;
    }
  }
}

TEST_F(JobTest, memoryBoundsThePiecesInWork) {
  for (std::uint64_t pieces : {1, 2}) {
    Job job = emptyJob();
    PlannedShard shard{shardName(0), {}, {}};
    auto step =
        std::make_unique<SumStep>("sum", std::make_shared<SumMeasurement>(folder->tensors()[0]));
    const SumStep& watched = *step;
    shard.steps.push_back(std::move(step));
    job.shards.push_back(std::move(shard));
    ASSERT_TRUE(runJob(job, root / "out",
                       {.memory = pieces * SumStep::kMemory + SumStep::kMemory / 2, .threads = 8}));
    EXPECT_LE(watched.most, static_cast<int>(pieces));
    EXPECT_GE(watched.most, 1);
    fs::remove_all(root / "out");
  }
}

TEST_F(JobTest, aShardWithOtherMetadataIsWrittenAnew) {
  Job job = copyJob();
  job.shards[1].metadata = {{"format", "other"}};
  ASSERT_TRUE(runJob(job, root / "out"));
  const auto file = SafetensorsFile::open(root / "out" / shardName(1));
  ASSERT_TRUE(file);
  EXPECT_EQ(file->metadata(), (SafetensorsMetadata{{"format", "other"}}));
  EXPECT_EQ(*file->bytes(file->entries()[0]), *folder->tensors()[1].bytes());
}

TEST_F(JobTest, aCopyOfSomeTensorsHasOnlyThose) {
  Job two = flipJob();
  ASSERT_TRUE(runJob(two, root / "two"));
  auto source = Folder::open(root / "two");
  ASSERT_TRUE(source);
  Job job = emptyJob();
  job.source = &*source;
  PlannedShard shard{shardName(0), {}, source->shard(0).metadata()};
  const StoredTensor kept{&source->shard(0), &source->shard(0).entries()[1]};
  shard.steps.push_back(copyStep(kept));
  job.shards.push_back(std::move(shard));
  ASSERT_TRUE(runJob(job, root / "out"));
  const auto file = SafetensorsFile::open(root / "out" / shardName(0));
  ASSERT_TRUE(file);
  ASSERT_EQ(file->entries().size(), 1u);
  EXPECT_EQ(file->entries()[0].name, kept.name());
  EXPECT_EQ(*file->bytes(file->entries()[0]), *kept.bytes());
}

TEST_F(JobTest, aShardOfOtherTensorsIsMadeAgain) {
  Job whole = flipJob();
  ASSERT_TRUE(runJob(whole, root / "whole"));
  const auto planned = Job(flipJob()).shards[0].tensors();
  const Tensor turned = Tensor::zeros(numerics::IntegerType{8, true}, {100, 37});
  const Tensor signedBytes = Tensor::zeros(numerics::IntegerType{8, false}, {37, 100});
  const Tensor same = Tensor::zeros(numerics::IntegerType{8, true}, {37, 100});
  const std::vector<NamedTensor> others[] = {
      {{planned[0].name, &turned}, {planned[1].name, &same}},
      {{planned[0].name, &signedBytes}, {planned[1].name, &same}},
      {{planned[0].name, &same}, {"another", &same}},
      {{planned[0].name, &same}}};
  for (const std::vector<NamedTensor>& other : others) {
    EXPECT_NE(refusal(flipJob({1, 0}), root / "out"), "");
    fs::remove(root / "out" / shardName(0));
    ASSERT_TRUE(writeSafetensors(root / "out" / shardName(0), other));
    Job again = flipJob();
    ASSERT_TRUE(runJob(again, root / "out"));
    EXPECT_TRUE(contents(root / "out") == contents(root / "whole"));
    fs::remove_all(root / "out");
  }
}

TEST_F(JobTest, aShardThatIsNotAsPlannedIsMadeAgain) {
  Job whole = flipJob();
  ASSERT_TRUE(runJob(whole, root / "whole"));
  EXPECT_NE(refusal(flipJob({1, 0}), root / "out"), "");
  writeText(root / "out" / shardName(0), "torn");
  Job again = flipJob();
  ASSERT_TRUE(runJob(again, root / "out"));
  EXPECT_TRUE(contents(root / "out") == contents(root / "whole"));
}

TEST_F(JobTest, refusesAnotherJobsFolder) {
  EXPECT_NE(refusal(flipJob({1, 0}), root / "out"), "");
  Job other = flipJob();
  other.options = {{"do", "something else"}};
  EXPECT_NE(refusal(std::move(other), root / "out").find("another unfinished job"),
            std::string::npos);
  // Touching the input makes it another input.
  fs::last_write_time(root / "in" / shardName(2), fs::file_time_type::clock::now());
  EXPECT_NE(refusal(flipJob(), root / "out").find("another unfinished job"), std::string::npos);
}

TEST_F(JobTest, noticesAnInputThatIsWrittenToMeanwhile) {
  const fs::path shard = root / "in" / shardName(2);
  const std::string before = fileText(shard);
  bool isWritten = false;
  const auto runWhile = [&](auto change, const fs::path& out) {
    Job job = flipJob();
    isWritten = false;
    const auto result = runJob(job, out, {.threads = 1, .progress = [&](std::uint64_t) {
                                            if (!std::exchange(isWritten, true))
                                              change();
                                          }});
    return result ? std::string() : result.error().message();
  };
  // Another file takes the name: the job reads the first file to its end.
  EXPECT_EQ(runWhile(
                [&] {
                  writeText(root / "other", std::string(before.size(), 'x'));
                  fs::rename(root / "other", shard);
                },
                root / "replaced"),
            "");
  writeText(shard, before);
  // The modification time has the resolution of the system's clock ticks.
  fs::last_write_time(shard, fs::file_time_type::clock::now() - std::chrono::seconds(1));
  folder = std::make_unique<Folder>(Folder::open(root / "in").value());
  const std::string said = runWhile(
      [&] {
        std::fstream file(shard, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(-1, std::ios::end);
        file.put('x');
      },
      root / "out");
  EXPECT_NE(said.find(shardName(2)), std::string::npos) << said;
  EXPECT_NE(said.find("was written to while it was being read"), std::string::npos) << said;
  EXPECT_FALSE(fs::exists(root / "out/config.json"));
}

TEST_F(JobTest, leavesNothingWhereNoShardBecameWhole) {
  fs::create_directory(root / "mine");
  for (const char* out : {"out", "mine"}) {
    EXPECT_NE(refusal(flipJob({0, 20}), root / out).find("told to fail"), std::string::npos);
    EXPECT_EQ(fs::exists(root / out), out == std::string("mine")) << "what it made, it removes";
    Job other = flipJob();
    other.options = {{"do", "something else"}};
    EXPECT_EQ(refusal(std::move(other), root / out), "");
  }
  // The first shard of an earlier run may be torn: the same job can still continue.
  EXPECT_NE(refusal(flipJob({1, 0}), root / "torn"), "");
  writeText(root / "torn" / shardName(0), "torn");
  EXPECT_NE(refusal(flipJob({0, 0}), root / "torn").find("told to fail"), std::string::npos);
  EXPECT_EQ(refusal(flipJob(), root / "torn"), "");
}

TEST_F(JobTest, refusesFoldersThatAreNotEmpty) {
  writeText(root / "out/notes.txt", "mine");
  EXPECT_NE(refusal(flipJob(), root / "out").find("not empty"), std::string::npos);
  Job done = flipJob();
  ASSERT_TRUE(runJob(done, root / "done"));
  EXPECT_NE(refusal(flipJob(), root / "done").find("not empty"), std::string::npos);
  EXPECT_NE(refusal(flipJob(), root / "out/notes.txt").find("cannot be created"),
            std::string::npos);
}

TEST_F(JobTest, refusesToWriteIntoTheInput) {
  fs::create_directory_symlink(root / "in", root / "link");
  for (const char* out : {"in", "in/", "in/sub", "link", "link/sub", "in/../in", "."})
    EXPECT_NE(refusal(flipJob(), root / out).find("inside the input"), std::string::npos) << out;
}

TEST_F(JobTest, refusesAFolderInWork) {
  fs::create_directory(root / "out");
  const int held = ::open((root / "out").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  EXPECT_NE(refusal(flipJob(), root / "out").find("another octavo"), std::string::npos);
  ::close(held);
  EXPECT_EQ(refusal(flipJob(), root / "out"), "");
}

} // namespace
} // namespace octavo::checkpoint
