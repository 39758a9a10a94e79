// Arrays of wide numbers as kernels read and write them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace octavo::kernels {

/// Wide element types that kernels read and write.
enum class WideType : std::uint8_t { F32, Bf16, F16 };

/// Bytes of one element.
constexpr std::size_t wideBytes(WideType type) { return type == WideType::F32 ? 4 : 2; }

/// Whether results go around the caches: worth it when they do not fit there.
enum class Stores : std::uint8_t { Cached, Streaming };

} // namespace octavo::kernels
