#include "octavo/Program/Folder/LoadedProgram.h"

#include "octavo/Program/Folder/FileDigest.h"
#include "octavo/Program/Folder/FolderCheck.h"
#include "octavo/Program/Folder/FolderFile.h"
#include "octavo/Program/Folder/MappedFile.h"
#include "octavo/Program/Folder/ProcessorFeatures.h"
#include "octavo/Program/Steps/File/ProgramFile.h"
#include "octavo/Program/Steps/KernelLibrary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <dlfcn.h>
#include <optional>
#include <unistd.h>

namespace octavo::program {

namespace {

using Error = tl::unexpected<std::string>;

/// Appended to the error of a file beside program.octavo that cannot be read.
constexpr const char* kPart = "; program.octavo needs it: copy the folder whole, or compile the "
                              "program again";

/// An error of loading the files that program.octavo names.
struct Loading {
  std::string error;
  bool isMissing = false; ///< one of these files is missing
};

/// Maps a file beside program.octavo.
tl::expected<Mapping, Loading> mapPart(const std::filesystem::path& file) {
  return map(file).map_error(
      [](MappingError error) { return Loading{error.message + kPart, error.isMissing}; });
}

tl::unexpected<Loading> failed(const std::filesystem::path& file, const std::string& why) {
  return tl::make_unexpected(Loading{fmt::format("{}: {}", file.string(), why)});
}

/// The contents of the shared object's `octavo_facts`.
struct KernelFacts {
  std::uint64_t kernels, functions, id;
};

/// Loads the folder's kernels and sets their addresses in `program`.
tl::expected<std::shared_ptr<const void>, Loading>
loadKernels(const std::filesystem::path& file, const FolderFile& folder, Program& program) {
  if (program.functions.empty() && folder.kernels.size == 0)
    return nullptr;
  auto mapped = mapPart(file);
  if (!mapped)
    return tl::make_unexpected(mapped.error());
  if (mapped->bytes.size() != folder.kernels.size ||
      fileDigest(mapped->bytes) != folder.kernels.digest)
    return failed(file, std::string(kDamaged));
  std::error_code unreadable; // dlopen searches for a name without a slash elsewhere
  const std::filesystem::path path = std::filesystem::absolute(file, unreadable);
  void* opened = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    const char* why = ::dlerror();
    return tl::make_unexpected(
        Loading{fmt::format("the kernels cannot be loaded: {}", why == nullptr ? "" : why),
                ::access(path.c_str(), F_OK) != 0});
  }
  std::shared_ptr<const void> code(
      opened, [](const void* library) { ::dlclose(const_cast<void*>(library)); });
  const auto* kernels = static_cast<const KernelFunction*>(::dlsym(opened, "octavo_kernels"));
  auto** functions = static_cast<void**>(::dlsym(opened, "octavo_functions"));
  const auto* facts = static_cast<const KernelFacts*>(::dlsym(opened, "octavo_facts"));
  if (kernels == nullptr || functions == nullptr || facts == nullptr)
    return failed(file, "it is not what `octavo compile` writes");
  if (facts->id != folder.id() || facts->kernels != program.functions.size() ||
      facts->functions != folder.functions.size())
    return failed(file, "its kernels are of another program than program.octavo has; compile the "
                        "program again");
  for (std::size_t i = 0; i < folder.functions.size(); ++i) {
    const auto known = program::libraryFunctions();
    const auto found = std::ranges::find_if(known, [&](const auto& each) {
      return each.type != nullptr && each.name == folder.functions[i];
    });
    if (found == known.end())
      return failed(file,
                    fmt::format("it calls {}, which this octavo has not", folder.functions[i]));
    functions[i] = found->address;
  }
  std::ranges::copy_n(kernels, static_cast<std::ptrdiff_t>(program.functions.size()),
                      program.functions.begin());
  return code;
}

tl::expected<std::vector<LoadedProgram::Tensor>, std::string>
tensorsOf(const std::vector<std::string>& names, const std::vector<Place>& places) {
  if (names.size() != places.size())
    return Error("it has other names than arguments and results");
  std::vector<LoadedProgram::Tensor> list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!places[i].memory)
      return Error(fmt::format("its argument {} is no tensor", names[i]));
    if (std::ranges::count_if(places[i].memory->shape, &BatchExtent::isOpen) > 1)
      return Error(fmt::format("{} has more than one axis of items", names[i]));
    list.push_back({*places[i].memory, names[i], places[i].memory->shapeOf(1)});
  }
  return list;
}

} // namespace

/// Loads the program of given bytes of program.octavo, and the files that it names.
struct LoadedProgram::Loader {
  const std::filesystem::path& folder;

  tl::expected<std::unique_ptr<LoadedProgram>, Loading>
  load(std::span<const std::byte> bytes) const {
    const auto programFile = folder / kProgramFile;
    auto file = readFolderFile(bytes);
    if (!file)
      return failed(programFile, file.error());
    if (const auto missing = missingFeatures(file->features); !missing.empty())
      return failed(
          programFile,
          fmt::format("its kernels are for a processor with {}, which this one lacks: compile "
                      "the program on a machine like this one",
                      fmt::join(missing, ", ")));
    if (const std::string here = file->products.empty() ? "" : productsOfMachine();
        here != file->products)
      return failed(programFile,
                    fmt::format("its weights are packed for products on {}, and this process "
                                "multiplies on {}: compile the program on this machine, or choose "
                                "the instruction set with OCTAVO_ISA",
                                file->products, here));
    const auto weightsFile = folder / file->weightsFile();
    auto weights = mapPart(weightsFile);
    if (!weights)
      return tl::make_unexpected(weights.error());
    if (auto checked = checkWeightsEnd(weights->bytes, file->weights); !checked)
      return failed(weightsFile, checked.error());
    auto program = program::readProgram(
        file->program, weights->bytes.first(weights->bytes.size() - kWeightsEndBytes),
        weights->holder);
    if (!program)
      return failed(programFile, program.error());
    auto code = loadKernels(folder / file->kernelsFile(), *file, *program);
    if (!code)
      return tl::make_unexpected(code.error());
    auto arguments = tensorsOf(file->arguments, program->arguments);
    auto results = tensorsOf(file->results, program->results);
    if (!arguments || !results)
      return failed(programFile, arguments ? results.error() : arguments.error());
    if (!std::ranges::all_of(file->donations, [&](const Donation& each) {
          return each.argument < program->arguments.size() &&
                 each.result < program->results.size() &&
                 program->arguments[each.argument].memory == program->results[each.result].memory;
        }))
      return failed(programFile, "an argument is donated to another result than it fits");
    program->argumentNames = file->arguments;
    std::unique_ptr<LoadedProgram> loaded(new LoadedProgram(std::move(*code), std::move(*program)));
    loaded->name = file->function;
    loaded->taken = std::move(*arguments);
    loaded->given = std::move(*results);
    loaded->givenAway = std::move(file->donations);
    return loaded;
  }
};

tl::expected<std::unique_ptr<LoadedProgram>, std::string>
LoadedProgram::load(const std::filesystem::path& folder) {
  // `octavo compile` may replace the folder meanwhile, which removes the files that the old
  // program.octavo named. Then the new one is loaded.
  std::vector<std::byte> before;
  for (;;) {
    auto bytes = readProgramFile(folder);
    if (!bytes)
      return Error(bytes.error());
    auto loaded = Loader{folder}.load(*bytes);
    if (loaded)
      return std::move(*loaded);
    if (!loaded.error().isMissing || *bytes == before)
      return Error(std::move(loaded.error().error));
    before = std::move(*bytes);
  }
}

tl::expected<void, std::string> LoadedProgram::checkItems(std::int64_t count) const {
  const auto [least, most] = items();
  if (count >= least && count <= most)
    return {};
  return Error(
      fmt::format("@{} takes {} to {} items, and {} were given", name, least, most, count));
}

tl::expected<std::int64_t, std::string>
LoadedProgram::itemsOf(std::span<const Value> arguments) const {
  std::optional<std::size_t> first;
  std::int64_t count = 1;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (taken[i].openAxis() < 0)
      continue;
    const auto axis = static_cast<std::size_t>(taken[i].openAxis());
    const std::int64_t extent = arguments[i].tensor().shape[axis];
    const BatchExtent& open = taken[i].shape[axis];
    const std::int64_t own = (extent - open.fixed) / open.factor;
    if (!first)
      count = own;
    if (own != count || open.of(own) != extent)
      return Error(fmt::format("the arguments of @{} are not of one number of items: \"{}\" has {} "
                               "along axis {}, \"{}\" is of {}",
                               name, taken[i].name, extent, axis, taken[first.value_or(i)].name,
                               count));
    if (!first)
      first = i;
  }
  return checkItems(count).map([&] { return count; });
}

} // namespace octavo::program
