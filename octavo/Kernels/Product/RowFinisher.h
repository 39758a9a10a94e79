// What a product calls on rows of its result that are whole.
#pragma once

#include <cstdint>

namespace octavo::kernels {

/// Called on rows of C that are whole, while they are in cache: each row once, in ranges, on any
/// thread.
struct RowFinisher {
  void (*finish)(void* context, std::int64_t begin, std::int64_t end) = nullptr;
  void* context = nullptr;

  void operator()(std::int64_t begin, std::int64_t end) const {
    if (finish)
      finish(context, begin, end);
  }
};

} // namespace octavo::kernels
