// How many threads a caller's limit comes to.
#pragma once

#include <tbb/info.h>

#include <algorithm>

namespace octavo::base {

/// The limit, or as many threads as run at once where it is higher: of more TBB warns. 0 stays 0.
inline int usefulThreads(int limit) { return std::min(limit, tbb::info::default_concurrency()); }

} // namespace octavo::base
