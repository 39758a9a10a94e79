#include "octavo/Checkpoint/Layouts/ModifierTensors.h"

#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Checkpoint/StoredCode.h"
#include "octavo/Checkpoint/TensorChunks.h"
#include "octavo/Numerics/Conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace octavo::checkpoint {

namespace {

/// A yes or no, or the error of reading the file.
using Answer = tl::expected<bool, Error>;

/// Whether `holds(offset, bytes)` is true for all chunks of a tensor.
template <typename Holds> Answer all(const StoredTensor& tensor, const Holds& holds) {
  bool holdsForAll = true;
  const auto visit = [&](std::uint64_t offset, std::span<const std::byte> bytes) {
    return holdsForAll = holds(offset, bytes);
  };
  return forChunks(tensor, visit).map([&] { return holdsForAll; });
}

/// Whether all bytes are 0, which is 0 in every dtype of zero points: integers, packed integers,
/// floats.
Answer areZeros(const StoredTensor& tensor, const Layer&) {
  return all(tensor, [](std::uint64_t, std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, [](std::byte each) { return each == std::byte{0}; });
  });
}

Answer areOnes(const StoredTensor& tensor, const Layer&) {
  const SafetensorsDtype& dtype = *tensor.entry->dtype;
  if (!dtype.type || !dtype.type->isFloat())
    return false;
  const format::ElementFormat& format = dtype.type->format();
  const auto width = static_cast<std::size_t>(format.bytes());
  return all(tensor, [&](std::uint64_t, std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at + width <= bytes.size(); at += width)
      if (numerics::decode(format, codeAt(format, bytes.data() + at)) != 1)
        return false;
    return true;
  });
}

/// Whether every column belongs to the block in which it is stored; true also if no order is set
/// (-1).
template <typename Index> Answer areInOrder(const StoredTensor& tensor, std::int64_t along) {
  bool isUnset = true, isSorted = true;
  return all(tensor, [&](std::uint64_t offset, std::span<const std::byte> bytes) {
    for (std::size_t at = 0; at + sizeof(Index) <= bytes.size(); at += sizeof(Index)) {
      Index block;
      std::memcpy(&block, bytes.data() + at, sizeof(Index));
      isUnset &= block == -1;
      isSorted &= block == static_cast<std::int64_t>((offset + at) / sizeof(Index)) / along;
    }
    return isUnset || isSorted;
  });
}

Answer areBlocksInOrder(const StoredTensor& tensor, const Layer& layer) {
  const std::int64_t along = std::max<std::int64_t>(1, layer.type.block.back());
  const std::string_view dtype = tensor.entry->dtype->name;
  return dtype == "I32"   ? areInOrder<std::int32_t>(tensor, along)
         : dtype == "I64" ? areInOrder<std::int64_t>(tensor, along)
                          : Answer(false);
}

struct Modifier {
  std::string_view name; ///< spelled as in ScaleSpelling::name
  Answer (*isIdle)(const StoredTensor&, const Layer&);
  std::string_view effect;
};
constexpr auto kModifiers = std::to_array<Modifier>({
    // compressed-tensors compressors/base.py, quark: value = (code - zero point) * scale
    {"*_zero_point", areZeros, "is subtracted from its codes"},
    // compressed-tensors, actorder "group": column k is scaled by block g_idx[k]
    {"*_g_idx", areBlocksInOrder, "gives its columns the scales of other blocks"},
    // ModelOpt, NVFP4_AWQ: multiplies the input; the weight was divided by it
    {"pre_quant_scale", areOnes, "multiplies its input"},
});

} // namespace

std::optional<StoredTensor> findModifiers(const Folder& folder, Layer& layer) {
  std::optional<StoredTensor> unapplied;
  for (const Modifier& row : kModifiers) {
    const StoredTensor* tensor = folder.find(tensorName(layer.name, layer.parameter, row.name));
    if (!tensor)
      continue;
    const Answer isIdle = row.isIdle(*tensor, layer);
    if (isIdle && *isIdle) {
      layer.idle.push_back(*tensor);
    } else if (!unapplied) {
      layer.unapplied =
          isIdle ? fmt::format("{} {}", tensor->name(), row.effect) : isIdle.error().message();
      unapplied = *tensor;
    }
  }
  return unapplied;
}

} // namespace octavo::checkpoint
