// Handles Ctrl-C in commands that can stop between two pieces of work.
#pragma once

namespace octavo::tools {

/// During its lifetime, the first SIGINT or SIGTERM only requests a stop; the second ends the
/// process. At most one object may exist at a time.
class Interruption {
public:
  Interruption();
  Interruption(const Interruption&) = delete;
  ~Interruption();

  /// Whether a stop was requested. May be called from any thread.
  static bool isAsked();
};

} // namespace octavo::tools
