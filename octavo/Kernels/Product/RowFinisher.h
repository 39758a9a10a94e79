// The callback of a product on finished rows of its result.
#pragma once

#include <cstdint>

namespace octavo::kernels {

/// A callback on finished rows of C while they are in cache. It receives ranges [begin, end) that
/// cover each row once, on any thread. A null `finish` does nothing.
struct RowFinisher {
  void (*finish)(void* context, std::int64_t begin, std::int64_t end) = nullptr;
  void* context = nullptr;

  void operator()(std::int64_t begin, std::int64_t end) const {
    if (finish)
      finish(context, begin, end);
  }
};

} // namespace octavo::kernels
