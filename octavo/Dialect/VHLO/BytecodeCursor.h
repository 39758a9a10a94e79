// A position in a bytecode file, and the first damage found.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/ADT/bit.h"

#include <cstdint>
#include <optional>
#include <string>

namespace octavo::vhlo {

/// Reads numbers and sections. A read past the end returns 0 and makes isGood false.
class Cursor {
public:
  Cursor(llvm::StringRef bytes, std::size_t at) : bytes(bytes), at(at) {}

  bool isGood() const { return good; }
  bool atEnd() const { return at >= bytes.size(); }
  std::size_t position() const { return at; }
  std::size_t remaining() const { return bytes.size() - at; }

  unsigned byte() {
    if (atEnd())
      return static_cast<unsigned>(good = false);
    return static_cast<unsigned char>(bytes[at++]);
  }
  /// The next number, in MLIR's prefix encoding of variable length.
  std::uint64_t number() {
    const unsigned first = byte();
    const unsigned more = first == 0 ? 8 : static_cast<unsigned>(llvm::countr_zero(first));
    if (!good || more > remaining()) {
      good = false;
      return 0;
    }
    std::uint64_t value = first == 0 ? 0 : first >> (more + 1);
    for (unsigned i = 0; i < more; ++i) {
      const std::uint64_t next = byte();
      value |= first == 0 ? next << (8 * i) : next << (8 * (i + 1) - more - 1);
    }
    return value;
  }
  /// The contents of the next section. `id` becomes its number.
  Cursor section(unsigned& id) {
    const unsigned head = byte();
    id = head & 0x7FU;
    const std::uint64_t length = number();
    if ((head & 0x80U) != 0) {
      const std::uint64_t alignment = number();
      while (good && alignment != 0 && at % alignment != 0)
        byte();
    }
    return take(length);
  }
  /// The next `length` bytes.
  Cursor take(std::uint64_t length) {
    if (!good || length > remaining()) {
      good = false;
      return {bytes, bytes.size()};
    }
    at += length;
    return {bytes.take_front(at), at - length};
  }
  llvm::StringRef rest() const { return bytes.drop_front(at); }
  /// Skips a text and its terminating zero byte.
  void skipText() {
    while (byte() != 0) {
    }
  }

private:
  llvm::StringRef bytes;
  std::size_t at;
  bool good = true;
};

/// Keeps the first damage that is reported.
class Damage {
public:
  /// Records `what` and the cursor's position, unless damage was recorded before.
  void report(const Cursor& cursor, const llvm::Twine& what) {
    if (!text)
      text = (what + " at byte " + llvm::Twine(cursor.position())).str();
  }
  /// Reads a count of things that take at least one byte each. A count beyond the remaining bytes
  /// is damage, and gives 0.
  std::uint64_t count(Cursor& cursor, llvm::StringRef what) {
    const std::uint64_t number = cursor.number();
    if (number <= cursor.remaining())
      return number;
    report(cursor, llvm::Twine(number) + " " + what);
    return 0;
  }
  bool isFound() const { return text.has_value(); }
  const std::optional<std::string>& found() const { return text; }

private:
  std::optional<std::string> text;
};

} // namespace octavo::vhlo
