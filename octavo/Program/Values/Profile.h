// Times of a run's steps, for whoever asks the host for them.
#pragma once

#include <chrono>

namespace octavo::program {

/// Takes the times of steps. Used by several threads at once.
class Profile {
public:
  using Clock = std::chrono::steady_clock;
  enum class Extent : bool { Whole, Piece }; ///< a step, or what one thread takes of it

  virtual ~Profile() = default;
  /// The calling thread did this from `begin` to `end`. `step` is an id of Explanation::Step.
  virtual void add(const void* step, Extent extent, Clock::time_point begin,
                   Clock::time_point end) = 0;
};

/// Times its own life, where there is a profile to take it.
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
