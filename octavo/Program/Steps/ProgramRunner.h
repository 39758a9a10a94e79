// Runs a compiled program. Any number of threads may run it at once.
#pragma once

#include "octavo/Program/Steps/Program.h"

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace octavo::program {

/// Owns a program and the memory of its runs.
class ProgramRunner {
public:
  explicit ProgramRunner(Program program) : whole(std::move(program)) {}

  const Program& program() const { return whole; }
  /// Releases the program. The runner must not run afterwards.
  Program release() { return std::move(whole); }

  /// As in Executable: the contract of each is there.
  tl::expected<std::vector<Value>, std::string> run(std::vector<Value> arguments,
                                                    const RunContext& host, ResultMemory memory);
  Outcome runInto(std::span<Value> arguments, const RunContext& host, ResultMemory memory);
  /// The batch size of the arguments; 1 if the program has no open batch.
  std::int64_t itemsOf(std::span<const Value> arguments) const;
  bool takesUnread(std::size_t argument) const;
  Outcome bind(std::size_t argument, const Value& value) const;

private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<std::byte[], Free>;
  /// The memory of one run.
  struct Workspace {
    explicit Workspace(const Program& program)
        : frame(program.slots.size(), static_cast<std::size_t>(program.valueCount),
                static_cast<std::size_t>(program.rightCount),
                static_cast<std::size_t>(program.packedCount)),
          results(program.results.size()) {}
    Memory arena;
    std::size_t bytes = 0; ///< bytes of `arena`
    Frame frame;
    std::vector<std::byte*> results; ///< the memory of each result
  };

  static Memory allocate(std::size_t bytes);
  /// A workspace for batch size `items`. Fails if there is not enough memory.
  tl::expected<std::unique_ptr<Workspace>, std::string> workspace(std::int64_t items);
  /// Whether the run is correct if this result lies in the memory of this argument.
  bool canOverwrite(std::size_t argument, std::size_t result) const;
  Outcome takeArguments(Frame& frame, std::span<Value> arguments, const RunContext& host,
                        ResultMemory memory) const;
  template <typename IsGiven> void beginInPlace(Frame& frame, const IsGiven& isGiven) const;
  std::vector<Tensor> ownResults(Frame& frame, std::span<Value> arguments) const;
  void placeIn(Workspace& work, std::span<const Value> arguments, ResultMemory memory) const;
  void placeDonated(Workspace& work, std::span<Value> arguments) const;
  Outcome execute(Workspace& work, std::span<Value> arguments) const;
  void end(std::unique_ptr<Workspace> work);

  Program whole;
  Pool<Workspace> idle; ///< workspaces of runs that have ended, for reuse
};

} // namespace octavo::program
