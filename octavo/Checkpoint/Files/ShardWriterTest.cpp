#include "octavo/Checkpoint/Files/ShardWriter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <thread>

namespace octavo::checkpoint {
namespace {

using numerics::Tensor;

std::string fileText(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A test with a temporary folder and tensors of several dtypes; one is larger than kCopyPiece.
class ShardWriterTest : public testing::Test {
protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/octavo-shard-XXXXXX";
    folder = ::mkdtemp(name.data());
    add("b.weight", "BF16", {3, 5});
    add("a.weight", "U8", {9 << 20});
    add("c.codes", "F4", {6, 8});
    add("d.empty", "F32", {0, 7});
    add("e.scalar", "F32", {});
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void add(const std::string& name, std::string_view dtype, std::vector<std::int64_t> shape) {
    const SafetensorsDtype* row = findSafetensorsDtype(dtype);
    planned.push_back({name, row, shape});
    Tensor tensor = Tensor::zeros(*row->type, shape);
    const unsigned mask = row->bits < 8 ? (1u << row->bits) - 1 : 0xff;
    for (std::size_t i = 0; i < tensor.bytes.size(); ++i)
      tensor.bytes[i] = static_cast<std::byte>((i * 7 + (i >> 8) + planned.size()) & mask);
    tensors.push_back(std::move(tensor));
  }
  /// The file that writeSafetensors writes for the same tensors.
  SafetensorsFile whole() {
    std::vector<NamedTensor> named;
    for (std::size_t i = 0; i < tensors.size(); ++i)
      named.push_back({planned[i].name, &tensors[i]});
    EXPECT_TRUE(writeSafetensors(folder / "whole.safetensors", named, {{"format", "pt"}}));
    auto file = SafetensorsFile::open(folder / "whole.safetensors");
    EXPECT_TRUE(file) << file.error().message();
    return std::move(*file);
  }
  std::size_t filesInFolder() const {
    std::filesystem::directory_iterator entries(folder);
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
  }

  std::filesystem::path folder;
  std::vector<PlannedTensor> planned;
  std::vector<Tensor> tensors;
};

TEST_F(ShardWriterTest, piecesInAnyOrderFromAnyThreadGiveTheSameFile) {
  const SafetensorsFile source = whole();
  auto writer = ShardWriter::create(folder / "pieces.safetensors", planned, {{"format", "pt"}});
  ASSERT_TRUE(writer) << writer.error().message();
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < 3; ++thread)
    threads.emplace_back([&, thread] {
      for (std::size_t i = planned.size(); i-- > 0;) {
        const auto stored = source.bytes(*source.find(planned[i].name));
        ASSERT_TRUE(stored);
        const std::span<const std::byte> bytes = *stored;
        const std::size_t piece = bytes.size() / 7 + 1;
        for (std::size_t p = thread; p * piece < bytes.size(); p += 3)
          EXPECT_TRUE(writer->write(
              i, p * piece, bytes.subspan(p * piece, std::min(piece, bytes.size() - p * piece))));
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_FALSE(std::filesystem::exists(folder / "pieces.safetensors"));
  ASSERT_TRUE(writer->commit());
  EXPECT_TRUE(fileText(folder / "pieces.safetensors") == fileText(folder / "whole.safetensors"));
}

TEST_F(ShardWriterTest, bytesThatGoPastTheCacheGiveTheSameFile) {
  const SafetensorsFile source = whole();
  // Pieces of whole pages and others: some too small for direct writes, some more than are
  // collected.
  for (const std::size_t piece :
       {std::size_t{40'001}, std::size_t{1} << 20, std::size_t{3'000'005}}) {
    auto writer = ShardWriter::create(folder / "pieces.safetensors", planned, {{"format", "pt"}});
    ASSERT_TRUE(writer) << writer.error().message();
    PageBuffer buffer;
    for (std::size_t i = 0; i < planned.size(); ++i) {
      const auto stored = source.bytes(*source.find(planned[i].name));
      ASSERT_TRUE(stored);
      const std::span<const std::byte> bytes = *stored;
      for (std::size_t at = 0; at < bytes.size(); at += piece) {
        const auto part = bytes.subspan(at, std::min(piece, bytes.size() - at));
        const auto room = buffer.place(writer->position(i, at), part.size());
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(room.data()) % kPageBytes,
                  writer->position(i, at) % kPageBytes);
        std::ranges::copy(part, room.begin());
        ASSERT_TRUE(writer->write(i, at, room));
      }
    }
    ASSERT_TRUE(writer->commit());
    EXPECT_TRUE(fileText(folder / "pieces.safetensors") == fileText(folder / "whole.safetensors"))
        << piece;
  }
}

TEST_F(ShardWriterTest, copiesTensorsOfAnotherFile) {
  const SafetensorsFile source = whole();
  auto writer = ShardWriter::create(folder / "copy.safetensors", planned, source.metadata());
  ASSERT_TRUE(writer);
  PageBuffer buffer;
  for (std::size_t i = 0; i < planned.size(); ++i)
    ASSERT_TRUE(writer->copy(i, source, *source.find(planned[i].name), buffer));
  ASSERT_TRUE(writer->commit());
  EXPECT_TRUE(fileText(folder / "copy.safetensors") == fileText(folder / "whole.safetensors"));
}

TEST_F(ShardWriterTest, copiesFromMemoryWhereThereIsNoFile) {
  whole();
  const std::string text = fileText(folder / "whole.safetensors");
  const auto source =
      SafetensorsFile::open(InputFile::ofMemory(std::as_bytes(std::span(text)), "no such file"));
  ASSERT_TRUE(source);
  auto writer = ShardWriter::create(folder / "copy.safetensors", planned, source->metadata());
  ASSERT_TRUE(writer);
  PageBuffer buffer;
  for (std::size_t i = 0; i < planned.size(); ++i)
    ASSERT_TRUE(writer->copy(i, *source, *source->find(planned[i].name), buffer));
  ASSERT_TRUE(writer->commit());
  EXPECT_TRUE(fileText(folder / "copy.safetensors") == text);
}

TEST_F(ShardWriterTest, leavesNothingUnlessCommitted) {
  {
    auto writer = ShardWriter::create(folder / "model.safetensors", planned);
    ASSERT_TRUE(writer);
    EXPECT_EQ(filesInFolder(), 1u); // the temporary file
    const ShardWriter moved = std::move(*writer);
    EXPECT_EQ(filesInFolder(), 1u);
  }
  EXPECT_EQ(filesInFolder(), 0u);
}

TEST_F(ShardWriterTest, saysBeforehandThatTheDiskIsFull) {
  // No file system has 2^62 bytes; the space is only reserved, the bytes are not written.
  const PlannedTensor huge{"huge", findSafetensorsDtype("U8"), {std::int64_t{1} << 62}};
  const auto writer = ShardWriter::create(folder / "model.safetensors", std::span(&huge, 1));
  ASSERT_FALSE(writer);
  EXPECT_EQ(filesInFolder(), 0u);
  EXPECT_NE(writer.error().message().find("model.safetensors"), std::string::npos);
}

} // namespace
} // namespace octavo::checkpoint
