#include "octavo/Program/Folder/FileDigest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace octavo::program {
namespace {

std::uint64_t digestOf(std::string_view text) {
  return fileDigest(std::as_bytes(std::span(text.data(), text.size())));
}

/// The first four are values published by xxHash and LLVM. The last input is longer than a stripe.
TEST(FileDigest, isXxh64) {
  EXPECT_EQ(digestOf(""), 0xEF46DB3751D8E999U);
  EXPECT_EQ(digestOf("abc"), 0x44BC2CF5AD770999U);
  EXPECT_EQ(digestOf("foo"), 0x33BF00A859C4BA3FU);
  EXPECT_EQ(digestOf("bar"), 0x48A37C90AD27A659U);
  EXPECT_EQ(digestOf("0123456789abcdefghijklmnopqrstuvwxyz"), 0x69196C1B3AF0BFF9U);
}

TEST(FileDigest, piecesMakeTheWhole) {
  std::string text;
  for (int i = 0; i < 300; ++i)
    text += static_cast<char>(i * 7 + i / 11);
  for (const std::size_t piece : {1, 3, 8, 31, 32, 33, 64, 299}) {
    FileDigest digest;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      const std::string_view part = std::string_view(text).substr(at, piece);
      digest.add(std::as_bytes(std::span(part.data(), part.size())));
    }
    EXPECT_EQ(digest.value(), digestOf(text)) << piece;
  }
}

} // namespace
} // namespace octavo::program
