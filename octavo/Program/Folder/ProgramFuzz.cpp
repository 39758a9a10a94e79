// Fuzzes the reader of compiled programs. Arbitrary bytes must give an error, or a program whose
// steps stay within its memory. The program is run with kernels that do nothing, because kernel
// code does not check bounds; in a folder, the shared object names its program.

#include "octavo/Program/Folder/FolderFile.h"
#include "octavo/Program/Steps/File/ProgramFile.h"
#include "octavo/Program/Steps/ProgramRunner.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <variant>

using namespace octavo;

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 15; ///< of a run, so that it ends soon
constexpr int kMostSteps = 200;
constexpr std::int64_t kFewItems = 3;

/// As in a folder: all arguments have memory.
bool isSmall(const program::Program& program) {
  if (program.items.least > kFewItems || !program.scaledArguments.empty())
    return false;
  std::size_t bytes = static_cast<std::size_t>(program.arenaBytes.of(1)) + program.slots.size() +
                      static_cast<std::size_t>(program.valueCount + program.rightCount) +
                      program.functions.size();
  for (const auto* places : {&program.arguments, &program.results})
    for (const program::Place& place : *places)
      bytes += static_cast<std::size_t>(program::bytesOf(place).of(1));
  return bytes < kMostBytes;
}

void kernel(std::byte* const* /*memory*/, std::int64_t /*begin*/, std::int64_t /*end*/) {}

void run(program::ProgramRunner& runner, std::int64_t items) {
  std::vector<program::Value> arguments;
  for (const program::Place& place : runner.program().arguments)
    arguments.emplace_back(
        program::Tensor::zeros(place.memory->type, place.memory->shapeOf(items)));
  int left = kMostSteps;
  program::RunContext host;
  host.isInterrupted = [&] { return --left < 0; };
  try {
    static_cast<void>(runner.run(std::move(arguments), host, {}));
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  } catch (const std::bad_variant_access&) { // the file's steps read a value of another kind
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  alignas(64) static const std::byte kSections[std::size_t{1} << 16] = {};
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  if (auto file = program::readFolderFile(bytes); !file && file.error().size() < 10)
    std::abort();
  static const std::shared_ptr<const void> kLender = std::make_shared<int>();
  auto program = program::readProgram(bytes, kSections, kLender);
  if (!program) {
    if (program.error().size() < 10)
      std::abort();
    return 0;
  }
  if (!isSmall(*program))
    return 0;
  std::ranges::fill(program->functions, &kernel);
  const auto [least, most] = program->items;
  program::ProgramRunner runner(std::move(*program));
  for (const std::int64_t items : {std::min(kFewItems, most), least})
    run(runner, items);
  return 0;
}
