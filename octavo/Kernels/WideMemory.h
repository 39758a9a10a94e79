// Wide element types of arrays that kernels read and write, and how they store them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace octavo::kernels {

/// Wide element types that kernels read and write.
enum class WideType : std::uint8_t { F32, Bf16, F16 };

/// Bytes of one element.
constexpr std::size_t wideBytes(WideType type) { return type == WideType::F32 ? 4 : 2; }

/// Whether stores bypass the caches, which pays if the results do not fit in them.
enum class Stores : std::uint8_t { Cached, Streaming };

} // namespace octavo::kernels
