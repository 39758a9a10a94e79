// Parallel loops, on TBB's threads. All loops of octavo use these functions. Under the thread
// sanitizer they run on threads of their own: Debian's TBB library is not instrumented, and the
// sanitizer would report each hand-over inside it as a race.
#pragma once

#include "octavo/Base/FloatEnvironment.h"
#include "octavo/Base/Processor.h"

#include <cstdint>
#include <thread>

#if __has_feature(thread_sanitizer)
#include <algorithm>
#include <atomic>
#include <vector>
#else
#include <memory>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#endif

namespace octavo::base {

/// Calls f(begin, end) for ranges that cover [0, n). Ranges have at least `grain` indices if n
/// allows. No call may depend on what another writes. Each call runs in DefaultFloatEnvironment,
/// because TBB's threads keep the state under which they were created.
template <typename F> void forRanges(std::int64_t n, std::int64_t grain, const F& f) {
#if __has_feature(thread_sanitizer)
  constexpr std::int64_t kThreads = 4;
  const std::int64_t pieces = n / grain + (n % grain != 0);
  std::atomic<std::int64_t> next = 0;
  const auto work = [&] {
    const DefaultFloatEnvironment environment;
    for (std::int64_t piece = next++; piece < pieces; piece = next++)
      f(piece * grain, std::min((piece + 1) * grain, n));
  };
  std::vector<std::jthread> threads;
  for (std::int64_t i = 1; i < std::min(pieces, kThreads); ++i)
    threads.emplace_back(work);
  work();
#else
  const int processorOfCaller = processor();
  const std::thread::id caller = std::this_thread::get_id();
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, n, grain),
                    [&](const tbb::blocked_range<std::int64_t>& range) {
                      if (processor() == processorOfCaller && std::this_thread::get_id() != caller)
                        leaveProcessor(processorOfCaller);
                      const DefaultFloatEnvironment environment;
                      f(range.begin(), range.end());
                    });
#endif
}

/// Calls f(i) for 0 <= i < n. Each call should be worth a thread.
template <typename F> void forEach(std::int64_t n, const F& f) {
  forRanges(n, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i != end; ++i)
      f(i);
  });
}

/// Sorts like std::sort, in parallel and in DefaultFloatEnvironment.
template <typename Iterator, typename Less>
void sort(Iterator begin, Iterator end, const Less& less) {
  const DefaultFloatEnvironment environment;
#if __has_feature(thread_sanitizer)
  std::sort(begin, end, less);
#else
  // The context passes this thread's state to the threads that take part.
  using Context = tbb::task_group_context;
  Context context(Context::bound, Context::default_traits | Context::fp_settings);
  tbb::task_group(context).run_and_wait([&] { tbb::parallel_sort(begin, end, less); });
#endif
}

/// Calls f with its loops limited to `threads` threads.
template <typename F> void withThreads(int threads, const F& f) {
#if __has_feature(thread_sanitizer)
  f();
#else
  // Creating an arena and moving threads to it takes about 50 us, so the calling thread keeps it.
  thread_local std::unique_ptr<tbb::task_arena> arena;
  if (!arena || arena->max_concurrency() != threads)
    arena = std::make_unique<tbb::task_arena>(threads);
  arena->execute(f);
#endif
}

} // namespace octavo::base
