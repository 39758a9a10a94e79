#include "octavo/Compiler/Codegen/CompiledFolder.h"

#include "octavo/Checkpoint/Files/DurableFolder.h"
#include "octavo/Checkpoint/Files/FolderLock.h"
#include "octavo/Checkpoint/Files/OutputFile.h"
#include "octavo/Checkpoint/Files/TemporaryName.h"
#include "octavo/Compiler/Codegen/LinkFolder.h"
#include "octavo/Program/Folder/FileDigest.h"
#include "octavo/Program/Folder/FolderCheck.h"
#include "octavo/Program/Folder/FolderFile.h"
#include "octavo/Program/Steps/File/ProgramFile.h"
#include "octavo/Program/Steps/KernelLibrary.h"
#include "octavo/Program/Steps/Place.h"

#include "llvm/Support/MemoryBuffer.h"

#include <fmt/format.h>

#include <algorithm>

namespace octavo::compiler {

namespace {

using checkpoint::OutputFile;
using program::FolderFile;

constexpr const char* kFormerWeights = "weights.bin";

llvm::Error errorOf(const checkpoint::Error& error) {
  return llvm::createStringError(error.message());
}

/// For a donated argument that is bound: makes each run begin with a copy of the bound value to the
/// memory of the result that is written over it.
void copyFirst(program::Program& program, const program::Place& place) {
  program::Place from = place;
  from.number = static_cast<int>(program.slots.size());
  program::SlotUse& slot = program.slots[static_cast<std::size_t>(place.number)];
  const program::SlotUse constant{.kind = program::SlotUse::Kind::Constant,
                                  .bytes = slot.bytes,
                                  .index = static_cast<int>(program.constants.size())};
  slot.kind = program::SlotUse::Kind::Result;
  slot.index = slot.result;
  slot.first = 0;
  program.slots.push_back(constant);
  program.steps.addFirst(std::make_unique<program::CopyStep>(
      program.steps.all().front()->operation(), std::move(from), place));
}

/// Makes bound arguments constants, or scaled values at their places.
llvm::Error bind(program::Program& program, const program::Signature& signature,
                 std::span<const std::optional<program::Value>> bound) {
  std::vector<program::Place> open;
  std::vector<int> numbers(program.arguments.size(), -1); ///< new numbers; -1: bound
  // A kernel's code for writing over arguments covers all of its donations or none.
  const auto isBound = [&](const auto& donation) { return bound[donation.argument].has_value(); };
  const bool keepsKernels = std::ranges::none_of(
      program.donations, [&](const auto& each) { return each.isByKernel && isBound(each); });
  std::erase_if(program.donations, [&](const auto& each) {
    return isBound(each) || (each.isByKernel && !keepsKernels);
  });
  for (std::size_t i = 0; i < program.arguments.size(); ++i) {
    program::Place& place = program.arguments[i];
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
    program::SlotUse& slot = program.slots[static_cast<std::size_t>(place.number)];
    if (slot.kind == program::SlotUse::Kind::Donated) {
      copyFirst(program, place);
    } else {
      slot.kind = program::SlotUse::Kind::Constant;
      slot.index = static_cast<int>(program.constants.size());
    }
    program.constants.push_back(*bound[i]);
  }
  for (program::SlotUse& slot : program.slots)
    if (slot.kind == program::SlotUse::Kind::Argument ||
        slot.kind == program::SlotUse::Kind::Donated)
      slot.index = numbers[static_cast<std::size_t>(slot.index)];
  for (program::Program::Donation& each : program.donations)
    each.argument = static_cast<std::size_t>(numbers[each.argument]);
  program.arguments = std::move(open);
  return llvm::Error::success();
}

/// A line for each operation that the interpreter evaluates.
void listInterpreted(const program::Sequence& sequence, std::vector<std::string>& lines) {
  for (const std::unique_ptr<program::Step>& step : sequence.all()) {
    if (const program::StepFacts facts = step->facts();
        facts.kind == program::StepFacts::Kind::Interpreted)
      lines.push_back(fmt::format("\n  {}: '{}': {}", step->operation()->location,
                                  step->operation()->name, facts.detail));
    for (const program::Sequence* nested : step->nested())
      listInterpreted(*nested, lines);
  }
}

llvm::Error refuseInterpreted(const program::Program& program) {
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

/// The functions that kernels may call, in the order of CodeGenerator::link.
std::vector<std::string> calledFunctions() {
  std::vector<std::string> names;
  for (const program::LibraryFunction& function : program::libraryFunctions())
    if (function.type != nullptr)
      names.emplace_back(function.name);
  return names;
}

/// The contents of program.octavo in a folder; nullopt if there is none that this octavo reads.
std::optional<FolderFile> partsOf(const std::filesystem::path& folder) {
  const auto bytes = program::readProgramFile(folder);
  auto file = bytes ? program::readFolderFile(*bytes)
                    : tl::expected<FolderFile, std::string>(tl::make_unexpected(""));
  return file ? std::optional(std::move(*file)) : std::nullopt;
}

/// Fails unless the folder is new, empty, a compiled program's, or left by an interrupted
/// compilation: other files are not octavo's to replace.
llvm::Error checkFolder(const std::filesystem::path& folder) {
  std::error_code failed;
  std::string other;
  for (auto entry = std::filesystem::directory_iterator(folder, failed);
       !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (name == program::kProgramFile) {
      const auto file = llvm::MemoryBuffer::getFile(entry->path().string(), false, false);
      if (file && program::isProgramFile(std::as_bytes(
                      std::span((*file)->getBufferStart(), (*file)->getBufferSize()))))
        return llvm::Error::success();
      return llvm::createStringError(
          fmt::format("{}: it is there, and is not what `octavo compile` writes: choose another "
                      "folder",
                      entry->path().string()));
    }
    if (!program::isPartName(name) && !checkpoint::isTemporaryName(name) &&
        (other.empty() || name < other))
      other = name;
  }
  if (failed)
    return llvm::createStringError(fmt::format("{}: {}", folder.string(), failed.message()));
  if (!other.empty())
    return llvm::createStringError(fmt::format(
        "{}: the folder has files ({}), and is not one of a compiled program, which could be "
        "replaced: choose a new or an empty folder",
        folder.string(), other));
  return llvm::Error::success();
}

llvm::Expected<OutputFile> written(const std::filesystem::path& path,
                                   std::span<const std::byte> bytes) {
  auto file = OutputFile::create(path);
  if (!file)
    return errorOf(file.error());
  if (auto done = file->write(bytes); !done)
    return errorOf(done.error());
  return std::move(*file);
}

/// Links the kernels and records them in `file`.
llvm::Expected<OutputFile> linkTo(const std::filesystem::path& folder,
                                  std::span<const std::string> kernels, FolderFile& file) {
  const auto generator = codeGenerator();
  if (!generator)
    return llvm::createStringError(generator.error());
  const auto work = LinkFolder::make();
  if (!work)
    return llvm::createStringError(work.error());
  file.functions = calledFunctions();
  auto made = (*generator)->link(kernels, file.id(), work->path());
  if (!made)
    return llvm::createStringError(made.error());
  if (made->functions != file.functions)
    return llvm::createStringError(
        "the code generator beside this octavo is another version's: install both anew");
  file.features = std::move(made->features);
  const auto library = llvm::MemoryBuffer::getFile(work->path() + "/" + kLinkedFile, false, false);
  if (!library)
    return llvm::createStringError("the linked kernels: " + library.getError().message());
  const auto bytes =
      std::as_bytes(std::span((*library)->getBufferStart(), (*library)->getBufferSize()));
  file.kernels = {program::fileDigest(bytes), bytes.size()};
  return written(folder / file.kernelsFile(), bytes);
}

/// Removes the files of earlier programs, and of programs that were not written completely.
void removeOthers(const std::filesystem::path& folder, const FolderFile& file) {
  std::error_code none; // failures leave files that nothing reads
  std::vector<std::filesystem::path> others;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    if (const std::string name = entry.path().filename().string();
        program::isPartName(name) && name != file.weightsFile() &&
        (name != file.kernelsFile() || file.kernels.size == 0))
      others.push_back(entry.path());
  // Earlier versions gave all weights this name.
  const auto former = folder / kFormerWeights;
  if (const auto weights = llvm::MemoryBuffer::getFile(former.string(), false, false);
      weights && (*weights)->getBufferSize() >= program::kWeightsEndBytes &&
      program::isWeightsEnd(std::as_bytes(std::span(
          (*weights)->getBufferEnd() - program::kWeightsEndBytes, program::kWeightsEndBytes))))
    others.push_back(former);
  for (const std::filesystem::path& other : others)
    std::filesystem::remove(other, none);
}

/// Gives the files their names, program.octavo last. One process does it at a time, so that none
/// removes files that another is about to name.
llvm::Error place(const std::filesystem::path& folder, const FolderFile& file, OutputFile& program,
                  OutputFile& weights, std::optional<OutputFile>& kernels) {
  const auto lock = checkpoint::FolderLock::await(folder);
  if (!lock)
    return errorOf(lock.error());
  if (llvm::Error error = checkFolder(folder))
    return error;
  auto placed = weights.place();
  if (placed && kernels)
    placed = kernels->place();
  if (placed)
    placed = checkpoint::syncFolder(folder);
  if (placed)
    placed = program.commit();
  if (!placed)
    return errorOf(placed.error());
  removeOthers(folder, file);
  return llvm::Error::success();
}

} // namespace

llvm::Error writeFolder(const std::filesystem::path& folder, program::Program program,
                        std::span<const std::string> kernels, const program::Signature& signature,
                        std::span<const std::optional<program::Value>> bound) {
  if (llvm::Error error = refuseInterpreted(program))
    return error;
  if (llvm::Error error = bind(program, signature, bound))
    return error;
  program.items = {signature.leastItems, signature.mostItems};
  if (auto made = checkpoint::createFolders(folder); !made)
    return errorOf(made.error());
  if (llvm::Error error = checkFolder(folder))
    return error;
  if (const auto lock = checkpoint::FolderLock::await(folder))
    lock->removeTemporaries();
  const std::optional<FolderFile> before = partsOf(folder);
  // Weights that replace others keep their file mode.
  auto weights =
      OutputFile::create(folder / (before ? before->weightsFile() : std::string(kFormerWeights)));
  if (!weights)
    return errorOf(weights.error());
  program::FileDigest digest;
  program::FolderPart part;
  const program::SectionSink sink = [&](std::span<const std::byte> bytes) {
    digest.add(bytes);
    part.size += bytes.size();
    return weights->write(bytes).map_error([](const auto& error) { return error.message(); });
  };
  auto steps = program::writeProgram(program, sink);
  if (!steps)
    return llvm::createStringError(steps.error());
  part.size += program::kWeightsEndBytes;
  part.digest = digest.value();
  FolderFile file{.function = signature.function,
                  .arguments = {},
                  .results = signature.results,
                  .donations = {},
                  .products = program.packedCount > 0 ? program::productsOfMachine() : "",
                  .features = {},
                  .functions = {},
                  .kernels = {},
                  .weights = part,
                  .program = std::move(*steps)};
  std::vector<std::size_t> numbers(bound.size()); ///< new numbers of arguments that are not bound
  for (std::size_t i = 0; i < bound.size(); ++i) {
    numbers[i] = file.arguments.size();
    if (!bound[i])
      file.arguments.push_back(signature.arguments[i]);
  }
  // With an open batch, argument and result may turn out to have different extents.
  for (const auto& [argument, result] : signature.donations)
    if (!bound[argument] &&
        program.arguments[numbers[argument]].memory == program.results[result].memory)
      file.donations.push_back({numbers[argument], result});
  if (auto ended = weights->write(program::weightsEnd(part)); !ended)
    return errorOf(ended.error());
  weights->rename(folder / file.weightsFile());
  std::optional<OutputFile> linked;
  if (!kernels.empty()) {
    auto made = linkTo(folder, kernels, file);
    if (!made)
      return made.takeError();
    linked.emplace(std::move(*made));
  }
  auto out = written(folder / program::kProgramFile, program::bytesOf(file));
  if (!out)
    return out.takeError();
  return place(folder, file, *out, *weights, linked);
}

} // namespace octavo::compiler
