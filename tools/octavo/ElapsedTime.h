// Shows what a long command is doing and for how long, on a terminal only.
#pragma once

#include "tools/octavo/StatusLine.h"

#include <string>

namespace octavo::tools {

/// Shows `octavo: WHAT, N s` as a StatusLine.
class ElapsedTime {
public:
  explicit ElapsedTime(std::string what);

  double seconds() const { return line.seconds(); }

private:
  StatusLine line;
};

} // namespace octavo::tools
