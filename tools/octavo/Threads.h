// --threads, which several commands have.
#pragma once

#include <CLI/CLI.hpp>
#include <tbb/global_control.h>

#include <optional>

namespace octavo::tools {

/// --threads N, of at least 1; `threads` keeps what it is where the option is not given.
void addThreadsOption(CLI::App& command, int& threads);

/// Keeps loops to so many threads while it lives; 0: to as many as there are.
class ThreadLimit {
public:
  explicit ThreadLimit(int threads);

private:
  std::optional<tbb::global_control> limit;
};

} // namespace octavo::tools
