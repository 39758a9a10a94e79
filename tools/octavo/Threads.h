// The option --threads, which several commands have.
#pragma once

#include <CLI/CLI.hpp>
#include <tbb/global_control.h>

#include <optional>

namespace octavo::tools {

/// Adds --threads N, at least 1. `threads` keeps its value if the option is not given.
void addThreadsOption(CLI::App& command, int& threads);

/// Limits parallel loops to `threads` threads during its lifetime; 0: all of the machine's.
class ThreadLimit {
public:
  explicit ThreadLimit(int threads);

private:
  std::optional<tbb::global_control> limit;
};

} // namespace octavo::tools
