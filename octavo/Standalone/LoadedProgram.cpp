#include "octavo/Standalone/LoadedProgram.h"

#include "octavo/Standalone/FolderFile.h"
#include "octavo/Standalone/ProcessorFeatures.h"
#include "octavo/Steps/KernelLibrary.h"
#include "octavo/Steps/ProgramFile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace octavo::standalone {

namespace {

using Error = tl::unexpected<std::string>;

Error wrong(const std::filesystem::path& file, const std::string& why) {
  return Error(fmt::format("{}: {}", file.string(), why));
}

/// What is said of a file beside program.octavo that cannot be read.
constexpr const char* kPart = "; program.octavo needs it: copy the folder whole, or compile the "
                              "program again";

/// The bytes of a file for as long as somebody holds them.
struct Mapping {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> holder;
};

tl::expected<Mapping, std::string> map(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return wrong(file, std::strerror(errno));
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return wrong(file, "it is no file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) {
    ::close(descriptor);
    return Mapping{};
  }
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  const int failed = errno;
  ::close(descriptor);
  if (memory == MAP_FAILED)
    return wrong(file, std::strerror(failed));
  return Mapping{{static_cast<const std::byte*>(memory), size},
                 std::shared_ptr<const void>(memory, [size](const void* mapped) {
                   ::munmap(const_cast<void*>(mapped), size);
                 })};
}

/// The folder's kernels, whose addresses `program` is given.
tl::expected<std::shared_ptr<const void>, std::string>
loadKernels(const std::filesystem::path& file, const FolderFile& folder, steps::Program& program) {
  if (program.functions.empty())
    return nullptr;
  auto mapped = map(file);
  if (!mapped)
    return Error(mapped.error() + kPart);
  if (digest(mapped->bytes) != folder.kernels)
    return wrong(file, std::string(kDamaged));
  std::error_code unreadable; // without a slash, the system would look for it elsewhere
  const std::filesystem::path path = std::filesystem::absolute(file, unreadable);
  void* opened = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr)
    return Error(fmt::format("the kernels cannot be loaded: {}", ::dlerror()));
  std::shared_ptr<const void> code(
      opened, [](const void* library) { ::dlclose(const_cast<void*>(library)); });
  auto* kernels = static_cast<const steps::KernelFunction*>(::dlsym(opened, "octavo_kernels"));
  auto** functions = static_cast<void**>(::dlsym(opened, "octavo_functions"));
  if (kernels == nullptr || functions == nullptr)
    return wrong(file, "it is not what `octavo compile` writes");
  for (std::size_t i = 0; i < folder.functions.size(); ++i) {
    const auto known = steps::libraryFunctions();
    const auto found = std::ranges::find_if(
        known, [&](const auto& each) { return each.name == folder.functions[i]; });
    if (found == known.end())
      return wrong(file,
                   fmt::format("it calls {}, which this octavo has not", folder.functions[i]));
    functions[i] = found->address;
  }
  std::ranges::copy_n(kernels, static_cast<std::ptrdiff_t>(program.functions.size()),
                      program.functions.begin());
  return code;
}

tl::expected<std::vector<LoadedProgram::Tensor>, std::string>
tensorsOf(const std::vector<std::string>& names, const std::vector<steps::Place>& places) {
  if (names.size() != places.size())
    return Error("it has other names than arguments and results");
  std::vector<LoadedProgram::Tensor> list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!places[i].memory)
      return Error(fmt::format("its argument {} is no tensor", names[i]));
    if (std::ranges::count_if(places[i].memory->shape, &steps::ItemNumber::isOpen) > 1)
      return Error(fmt::format("{} has more than one axis of items", names[i]));
    list.push_back({*places[i].memory, names[i], places[i].memory->shapeOf(1)});
  }
  return list;
}

} // namespace

tl::expected<std::unique_ptr<LoadedProgram>, std::string>
LoadedProgram::load(const std::filesystem::path& folder) {
  const auto programFile = folder / kProgramFile, weightsFile = folder / kWeightsFile;
  auto mapped = map(programFile);
  if (!mapped)
    return Error(mapped.error() + "; a folder that `octavo compile` wrote was expected");
  auto file = readFolderFile(mapped->bytes);
  if (!file)
    return wrong(programFile, file.error());
  if (const auto missing = missingFeatures(file->features); !missing.empty())
    return wrong(
        programFile,
        fmt::format("its kernels are for a processor with {}, which this one lacks: compile "
                    "the program on a machine like this one",
                    fmt::join(missing, ", ")));
  if (const std::string here = file->products.empty() ? "" : productsOfMachine();
      here != file->products)
    return wrong(programFile,
                 fmt::format("its weights are packed for products on {}, and this process "
                             "multiplies on {}: compile the program on this machine, or choose the "
                             "instruction set with OCTAVO_ISA",
                             file->products, here));
  auto weights = map(weightsFile);
  if (!weights)
    return Error(weights.error() + kPart);
  if (auto checked = checkWeightsEnd(weights->bytes, file->id()); !checked)
    return wrong(weightsFile, checked.error());
  auto program = steps::readProgram(file->program, weights->bytes, weights->holder);
  if (!program)
    return wrong(programFile, program.error());
  auto code = loadKernels(folder / file->kernelsFile(), *file, *program);
  if (!code)
    return Error(code.error());
  auto arguments = tensorsOf(file->arguments, program->arguments);
  auto results = tensorsOf(file->results, program->results);
  if (!arguments || !results)
    return wrong(programFile, arguments ? results.error() : arguments.error());
  if (!std::ranges::all_of(file->donations, [&](const execution::Donation& each) {
        return each.argument < program->arguments.size() && each.result < program->results.size() &&
               program->arguments[each.argument].memory == program->results[each.result].memory;
      }))
    return wrong(programFile, "an argument is donated to another result than it fits");
  program->argumentNames = file->arguments;
  std::unique_ptr<LoadedProgram> loaded(new LoadedProgram(std::move(*code), std::move(*program)));
  loaded->name = file->function;
  loaded->taken = std::move(*arguments);
  loaded->given = std::move(*results);
  loaded->givenAway = std::move(file->donations);
  return loaded;
}

tl::expected<void, std::string> LoadedProgram::checkItems(std::int64_t count) const {
  const auto [least, most] = items();
  if (count >= least && count <= most)
    return {};
  return Error(
      fmt::format("@{} takes {} to {} items, and {} were given", name, least, most, count));
}

tl::expected<std::int64_t, std::string>
LoadedProgram::itemsOf(std::span<const execution::Value> arguments) const {
  std::optional<std::size_t> first;
  std::int64_t count = 1;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (taken[i].openAxis() < 0)
      continue;
    const auto axis = static_cast<std::size_t>(taken[i].openAxis());
    const std::int64_t extent = arguments[i].tensor().shape[axis];
    const steps::ItemNumber& open = taken[i].shape[axis];
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

} // namespace octavo::standalone
