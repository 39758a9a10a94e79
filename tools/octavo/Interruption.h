// Ctrl-C, for commands that can stop between two pieces of work.
#pragma once

namespace octavo::tools {

/// While it lives, the first SIGINT or SIGTERM only asks to stop. The second one ends the process.
/// There is one at a time.
class Interruption {
public:
  Interruption();
  Interruption(const Interruption&) = delete;
  ~Interruption();

  /// Whether to stop. May be called from any thread.
  static bool isAsked();
};

} // namespace octavo::tools
