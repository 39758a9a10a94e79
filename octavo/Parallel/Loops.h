// Loops on TBB's threads. All of octavo's are these, so that the thread sanitizer sees what passes
// between threads: Debian builds TBB's library without it, and it would not see the locks inside.
#pragma once

#include <cstdint>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>
#include <utility>

#if __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#endif

namespace octavo::parallel {

/// While it lives, calls of what it wraps, on any thread, see what this thread wrote before; after
/// it, this thread sees what they wrote. TBB sees to that: here the thread sanitizer is told.
class HandOver {
public:
#if __has_feature(thread_sanitizer)
  HandOver() { __tsan_release(&out); }
  ~HandOver() { __tsan_acquire(&back); }

  template <typename F> auto wrap(F& f) {
    return [this, &f](auto&&... arguments) -> decltype(auto) {
      __tsan_acquire(&out);
      const struct Return {
        char* back;
        ~Return() { __tsan_release(back); }
      } atEnd{&back};
      return f(std::forward<decltype(arguments)>(arguments)...);
    };
  }
#else
  template <typename F> F& wrap(F& f) { return f; }
#endif
  HandOver(const HandOver&) = delete;
  HandOver& operator=(const HandOver&) = delete;

#if __has_feature(thread_sanitizer)
private:
  char out = 0, back = 0;
#else
  HandOver() = default;
#endif
};

/// Calls f(begin, end) for ranges of at least `grain`, where there are as many, that make up 0 to
/// n. No call may depend on what another one writes.
template <typename F> void forRanges(std::int64_t n, std::int64_t grain, const F& f) {
  HandOver handOver;
  const auto body = [&](const tbb::blocked_range<std::int64_t>& range) {
    f(range.begin(), range.end());
  };
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, n, grain), handOver.wrap(body));
}

/// Calls f(i) for 0 <= i < n, of which each is worth a thread's while.
template <typename F> void forEach(std::int64_t n, const F& f) {
  forRanges(n, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i != end; ++i)
      f(i);
  });
}

/// std::sort.
template <typename Iterator, typename Less>
void sort(Iterator begin, Iterator end, const Less& less) {
  HandOver handOver;
  tbb::parallel_sort(begin, end, handOver.wrap(less));
}

} // namespace octavo::parallel
