// Times of a run's steps, if the run context asks for them.
#pragma once

#include <chrono>

namespace octavo::program {

/// Receives the times of steps. Any number of threads may use it.
class Profile {
public:
  using Clock = std::chrono::steady_clock;
  enum class Extent : bool { Whole, Piece }; ///< a whole step, or one thread's part of it

  virtual ~Profile() = default;
  /// Records that the calling thread ran `step` from `begin` to `end`. `step` is an
  /// Explanation::Step::id.
  virtual void add(const void* step, Extent extent, Clock::time_point begin,
                   Clock::time_point end) = 0;
};

/// Records the time between its construction and destruction, unless `profile` is null.
class Timed {
public:
  Timed(Profile* profile, const void* step, Profile::Extent extent)
      : profile(profile), step(step), extent(extent) {
    if (profile != nullptr)
      begin = Profile::Clock::now();
  }
  Timed(const Timed&) = delete;
  ~Timed() {
    if (profile != nullptr)
      profile->add(step, extent, begin, Profile::Clock::now());
  }

private:
  Profile* profile;
  const void* step;
  Profile::Extent extent;
  Profile::Clock::time_point begin;
};

} // namespace octavo::program
