// Limits on the number of threads.
#pragma once

#include <tbb/info.h>

#include <algorithm>

namespace octavo::base {

/// min(limit, threads that run at once); TBB warns about more. 0 stays 0.
inline int usefulThreads(int limit) { return std::min(limit, tbb::info::default_concurrency()); }

} // namespace octavo::base
