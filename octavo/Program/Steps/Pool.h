// A lock-free pool of reusable objects.
#pragma once

#include <array>
#include <atomic>
#include <memory>

namespace octavo::program {

/// Keeps up to 64 idle objects without a lock. An object that is returned to a full pool is
/// deleted.
template <typename T> class Pool {
public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    for (std::atomic<T*>& place : places)
      delete place.load();
  }

  /// An idle object, or null.
  std::unique_ptr<T> take() {
    for (std::atomic<T*>& place : places)
      if (place.load(std::memory_order_relaxed) != nullptr)
        if (T* found = place.exchange(nullptr, std::memory_order_acquire))
          return std::unique_ptr<T>(found);
    return nullptr;
  }
  /// Returns an object to the pool.
  void giveBack(std::unique_ptr<T> thing) {
    for (std::atomic<T*>& place : places) {
      T* none = nullptr;
      if (place.compare_exchange_strong(none, thing.get(), std::memory_order_release,
                                        std::memory_order_relaxed)) {
        static_cast<void>(thing.release());
        return;
      }
    }
  }

private:
  std::array<std::atomic<T*>, 64> places{};
};

} // namespace octavo::program
