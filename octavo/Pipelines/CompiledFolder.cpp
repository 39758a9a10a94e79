#include "octavo/Pipelines/CompiledFolder.h"

#include "octavo/Checkpoint/Files/DurableFolder.h"
#include "octavo/Checkpoint/Files/OutputFile.h"
#include "octavo/Standalone/FolderFile.h"
#include "octavo/Steps/Place.h"
#include "octavo/Steps/ProgramFile.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <fmt/format.h>

#include <algorithm>

namespace octavo::pipelines {

namespace {

using checkpoint::OutputFile;
using standalone::FolderFile;

llvm::Error errorOf(const checkpoint::Error& error) {
  return llvm::createStringError(error.message());
}

/// Has each run begin with a copy of the value that a donated argument is bound to, where the
/// result lies that is written over it.
void copyFirst(steps::Program& program, const steps::Place& place) {
  steps::Place from = place;
  from.number = static_cast<int>(program.slots.size());
  steps::SlotUse& slot = program.slots[static_cast<std::size_t>(place.number)];
  const steps::SlotUse constant{.kind = steps::SlotUse::Kind::Constant,
                                .bytes = slot.bytes,
                                .index = static_cast<int>(program.constants.size())};
  slot.kind = steps::SlotUse::Kind::Result;
  slot.index = slot.result;
  slot.first = 0;
  program.slots.push_back(constant);
  program.steps.addFirst(std::make_unique<steps::CopyStep>(program.steps.all().front()->operation(),
                                                           std::move(from), place));
}

/// Makes bound arguments constants, or values that lie at a place.
llvm::Error bind(steps::Program& program, const execution::Signature& signature,
                 std::span<const std::optional<execution::Value>> bound) {
  std::vector<steps::Place> open;
  std::vector<int> numbers(program.arguments.size(), -1); ///< of arguments that stay
  // The code of a kernel that writes over its arguments is for all of them or none.
  const auto isBound = [&](const auto& donation) { return bound[donation.argument].has_value(); };
  const bool keepsKernels = std::ranges::none_of(
      program.donations, [&](const auto& each) { return each.isByKernel && isBound(each); });
  std::erase_if(program.donations, [&](const auto& each) {
    return isBound(each) || (each.isByKernel && !keepsKernels);
  });
  for (std::size_t i = 0; i < program.arguments.size(); ++i) {
    steps::Place& place = program.arguments[i];
    if (!bound[i]) {
      if (!place.memory)
        return llvm::createStringError(fmt::format(
            "argument \"{}\" of @{} is no tensor, which callers of a folder could give: "
            "bind it with --weights",
            signature.arguments[i], signature.function));
      numbers[i] = static_cast<int>(open.size());
      open.push_back(std::move(place));
      continue;
    }
    if (!place.memory) {
      if (!bound[i]->isScaled())
        return llvm::createStringError(fmt::format(
            "argument \"{}\" of @{} is neither a tensor nor a scaled one, which a folder "
            "could keep",
            signature.arguments[i], signature.function));
      program.values.push_back({place.number, *bound[i]});
      continue;
    }
    steps::SlotUse& slot = program.slots[static_cast<std::size_t>(place.number)];
    if (slot.kind == steps::SlotUse::Kind::Donated) {
      copyFirst(program, place);
    } else {
      slot.kind = steps::SlotUse::Kind::Constant;
      slot.index = static_cast<int>(program.constants.size());
    }
    program.constants.push_back(*bound[i]);
  }
  for (steps::SlotUse& slot : program.slots)
    if (slot.kind == steps::SlotUse::Kind::Argument || slot.kind == steps::SlotUse::Kind::Donated)
      slot.index = numbers[static_cast<std::size_t>(slot.index)];
  for (steps::Program::Donation& each : program.donations)
    each.argument = static_cast<std::size_t>(numbers[each.argument]);
  program.arguments = std::move(open);
  return llvm::Error::success();
}

/// The operations that the interpreter evaluates, a line each.
void listInterpreted(const steps::Sequence& sequence, std::vector<std::string>& lines) {
  for (const std::unique_ptr<steps::Step>& step : sequence.all()) {
    if (const steps::StepFacts facts = step->facts();
        facts.kind == steps::StepFacts::Kind::Interpreted)
      lines.push_back(fmt::format("\n  {}: '{}': {}", step->operation()->location,
                                  step->operation()->name, facts.detail));
    for (const steps::Sequence* nested : step->nested())
      listInterpreted(*nested, lines);
  }
}

llvm::Error refuseInterpreted(const steps::Program& program) {
  std::vector<std::string> lines;
  listInterpreted(program.steps, lines);
  if (lines.empty())
    return llvm::Error::success();
  constexpr std::size_t kShown = 8;
  std::string text =
      fmt::format("{} operations have no code and would be evaluated by the "
                  "interpreter, which a folder has not; `octavo run` runs the program:",
                  lines.size());
  for (std::size_t i = 0; i < std::min(lines.size(), kShown); ++i)
    text += lines[i];
  if (lines.size() > kShown)
    text += fmt::format("\n  and {} more", lines.size() - kShown);
  return llvm::createStringError(text);
}

/// Links the kernels, and writes them to the folder.
llvm::Error linkTo(const std::filesystem::path& folder, std::span<const std::string> kernels,
                   FolderFile& file) {
  const auto generator = codeGenerator();
  if (!generator)
    return llvm::createStringError(generator.error());
  llvm::SmallString<128> linked;
  if (const std::error_code failed =
          llvm::sys::fs::createTemporaryFile("octavo-kernels", "so", linked))
    return llvm::createStringError("a file for the linker: " + failed.message());
  const llvm::scope_exit remove([&] { llvm::sys::fs::remove(linked); });
  auto made = (*generator)->link(kernels, linked.str().str());
  if (!made)
    return llvm::createStringError(made.error());
  const auto library = llvm::MemoryBuffer::getFile(linked);
  if (!library)
    return llvm::createStringError("the linked kernels: " + library.getError().message());
  const auto bytes =
      std::as_bytes(std::span((*library)->getBufferStart(), (*library)->getBufferSize()));
  file.kernels = standalone::digest(bytes);
  file.features = std::move(made->features);
  file.functions = std::move(made->functions);
  const auto written = OutputFile::create(folder / file.kernelsFile()).and_then([&](auto&& to) {
    return to.write(bytes).and_then([&] { return to.commit(); });
  });
  return written ? llvm::Error::success() : errorOf(written.error());
}

/// Removes the kernels of programs that the folder had before.
void removeOthers(const std::filesystem::path& folder, const FolderFile& file) {
  std::error_code none; // what is left is nobody's
  std::vector<std::filesystem::path> others;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    if (const std::string name = entry.path().filename().string();
        standalone::isKernelsFile(name) && name != file.kernelsFile())
      others.push_back(entry.path());
  for (const std::filesystem::path& other : others)
    std::filesystem::remove(other, none);
}

} // namespace

llvm::Error writeFolder(const std::filesystem::path& folder, steps::Program program,
                        std::span<const std::string> kernels, const execution::Signature& signature,
                        std::span<const std::optional<execution::Value>> bound) {
  if (llvm::Error error = refuseInterpreted(program))
    return error;
  if (llvm::Error error = bind(program, signature, bound))
    return error;
  program.items = {signature.leastItems, signature.mostItems};
  if (auto made = checkpoint::createFolders(folder); !made)
    return errorOf(made.error());
  auto weights = OutputFile::create(folder / standalone::kWeightsFile);
  if (!weights)
    return errorOf(weights.error());
  std::uint64_t size = 0;
  const steps::SectionSink sink = [&](std::span<const std::byte> bytes) {
    size += bytes.size();
    return weights->write(bytes).map_error([](const auto& error) { return error.message(); });
  };
  auto written = steps::writeProgram(program, sink);
  if (!written)
    return llvm::createStringError(written.error());
  FolderFile file{.function = signature.function,
                  .arguments = {},
                  .results = signature.results,
                  .donations = {},
                  .products = program.packedCount > 0 ? standalone::productsOfMachine() : "",
                  .features = {},
                  .functions = {},
                  .kernels = 0,
                  .program = std::move(*written)};
  std::vector<std::size_t> numbers(bound.size()); ///< of arguments that are not bound
  for (std::size_t i = 0; i < bound.size(); ++i) {
    numbers[i] = file.arguments.size();
    if (!bound[i])
      file.arguments.push_back(signature.arguments[i]);
  }
  // What the program leaves open may turn out to be of two extents.
  for (const auto& [argument, result] : signature.donations)
    if (!bound[argument] &&
        program.arguments[numbers[argument]].memory == program.results[result].memory)
      file.donations.push_back({numbers[argument], result});
  size += standalone::weightsEnd(0, 0).size();
  if (auto ended = weights->write(standalone::weightsEnd(file.id(), size)); !ended)
    return errorOf(ended.error());
  if (!kernels.empty())
    if (llvm::Error error = linkTo(folder, kernels, file))
      return error;
  const auto whole =
      OutputFile::create(folder / standalone::kProgramFile).and_then([&](auto&& out) {
        return out.write(standalone::bytesOf(file))
            .and_then([&] { return weights->commit(); })
            .and_then([&] { return out.commit(); });
      });
  if (!whole)
    return errorOf(whole.error());
  removeOthers(folder, file);
  return llvm::Error::success();
}

} // namespace octavo::pipelines
