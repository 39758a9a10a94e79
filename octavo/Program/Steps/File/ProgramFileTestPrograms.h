// Helpers for tests of program files: builds small programs, writes them, and changes numbers in
// the files.
#pragma once

#include "octavo/Program/Steps/File/ProgramFile.h"
#include "octavo/Program/Steps/Products/Product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace octavo::program {

using Bytes = std::vector<std::byte>;
using Words = std::vector<std::uint64_t>;
using Kind = SlotUse::Kind;

inline OperationTextPtr op() {
  return std::make_shared<OperationText>(OperationText{"test.step", "here", "", "main", ""});
}

/// Builds a program. Each function adds a slot of one kind.
class Programs {
public:
  Programs() { program.operations = kOperations; }

  static constexpr std::int64_t kOperations = 12345; ///< marks this field in the file
  Slot argument(std::vector<BatchExtent> shape, const char* format = "f32") {
    return tensor(program.arguments, Kind::Argument, std::move(shape), format);
  }
  Slot result(std::vector<BatchExtent> shape) {
    return tensor(program.results, Kind::Result, std::move(shape), "f32");
  }
  Slot arena(std::int64_t bytes) {
    constexpr auto kAlignment = static_cast<std::int64_t>(kSlotAlignment);
    const Slot slot = add({.kind = Kind::Arena, .bytes = bytes, .offset = program.arenaBytes});
    program.arenaBytes.fixed += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return slot;
  }
  Slot range(BatchExtent bytesOfRow) { return add({.kind = Kind::Range, .bytes = bytesOfRow}); }
  Slot rows(std::int64_t bytesOfRow) { return add({.kind = Kind::Rows, .bytes = bytesOfRow}); }
  template <typename S, typename... Fields> void step(Fields... fields) {
    program.steps.add(std::make_unique<S>(op(), std::move(fields)...));
  }

  Bytes written() {
    auto bytes = write();
    EXPECT_TRUE(bytes) << bytes.error();
    return bytes ? std::move(*bytes) : Bytes();
  }
  /// The error of writing the program; empty if it is written.
  std::string refusal() {
    const auto bytes = write();
    return bytes ? "" : bytes.error();
  }

  Program program;

private:
  tl::expected<Bytes, std::string> write() {
    return writeProgram(
        program, [](std::span<const std::byte>) { return tl::expected<void, std::string>(); });
  }
  Slot add(SlotUse use) {
    program.slots.push_back(use);
    return {static_cast<int>(program.slots.size()) - 1};
  }
  Slot tensor(std::vector<Place>& places, Kind kind, std::vector<BatchExtent> shape,
              const char* format) {
    Place place{static_cast<int>(program.slots.size()),
                Place::InMemory{*format::findElementFormat(format), std::move(shape)}};
    const Slot slot =
        add({.kind = kind, .bytes = bytesOf(place), .index = static_cast<int>(places.size())});
    places.push_back(std::move(place));
    return slot;
  }
};

inline tl::expected<Program, std::string> read(const Bytes& bytes) {
  alignas(64) static const std::byte kNoSections[64] = {};
  return readProgram(bytes, kNoSections, std::make_shared<int>());
}

/// The error of reading a file; empty if it is read.
inline std::string refusal(const Bytes& bytes) {
  const auto program = read(bytes);
  return program ? "" : program.error();
}

/// The file with `to` in place of `from`, which must occur exactly once.
inline Bytes with(Bytes file, std::span<const std::byte> from, std::span<const std::byte> to) {
  const auto found = std::ranges::search(file, from);
  EXPECT_FALSE(found.empty());
  if (!found.empty())
    std::ranges::copy(to, found.begin());
  EXPECT_TRUE(std::ranges::search(file, from).empty());
  return file;
}
inline Bytes with(Bytes file, const Words& from, const Words& to) {
  return with(std::move(file), std::as_bytes(std::span(from)), std::as_bytes(std::span(to)));
}
inline Bytes with(Bytes file, std::string_view from, std::string_view to) {
  return with(std::move(file), std::as_bytes(std::span(from)), std::as_bytes(std::span(to)));
}

inline MatrixProductStep::Side rowsOf(Slot slot, std::int64_t depth) { return {slot, 0, depth, 1}; }
inline MatrixBatch one() { return {.offsets = {{0, 0, 0}}}; }

} // namespace octavo::program
