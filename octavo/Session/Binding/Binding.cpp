#include "octavo/Session/Binding/Binding.h"

#include "octavo/Base/Loops.h"
#include "octavo/Base/NearNames.h"
#include "octavo/Checkpoint/Files/Npy.h"
#include "octavo/Checkpoint/Files/Safetensors.h"
#include "octavo/Program/Values/Comparison.h"
#include "octavo/Program/Values/QuantizedArgument.h"
#include "octavo/Program/Values/StateArguments.h"
#include "octavo/Session/Binding/Failure.h"

#include "llvm/ADT/StringMap.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>

namespace octavo::session {

namespace {

using checkpoint::SafetensorsEntry;
using checkpoint::SafetensorsFile;
using format::element;
using numerics::ElementType;
using numerics::Tensor;

constexpr std::string_view kSafetensors = ".safetensors";

/// The source of an argument's value: an entry of a weights file, or a .npy file.
struct Origin {
  std::shared_ptr<const SafetensorsFile> file = nullptr;
  const SafetensorsEntry* entry = nullptr;
  std::filesystem::path npy = {};

  /// `FILE: tensor "T"`, or `FILE`.
  std::string describe() const {
    return file ? fmt::format("{}: tensor {}", file->name(), checkpoint::inQuotes(entry->name))
                : npy.string();
  }
};

class Binder {
public:
  Binder(std::span<const program::Argument> arguments, const Sources& sources,
         const std::string& program)
      : arguments(arguments), sources(sources), program(program), origins(arguments.size()) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      index.try_emplace(arguments[i].name, i);
      names.push_back(arguments[i].name);
    }
  }

  llvm::Expected<std::vector<Value>> bind() {
    for (const std::filesystem::path& path : sources.weights)
      if (llvm::Error error = addWeights(path))
        return error;
    for (const InputFile& input : sources.inputs)
      if (llvm::Error error = addInput(input))
        return error;
    for (const std::filesystem::path& path : positional)
      if (llvm::Error error = addPositional(path))
        return error;
    if (llvm::Error error = checkComplete())
      return error;
    auto values = readAll();
    if (!values)
      return values.takeError();
    std::vector<Value> whole;
    for (std::optional<Value>& value : *values)
      whole.push_back(std::move(*value));
    return whole;
  }

  llvm::Expected<std::vector<std::optional<Value>>> bindNamed() {
    for (const std::filesystem::path& path : sources.weights)
      if (llvm::Error error = addWeights(path))
        return error;
    if (llvm::Error error = checkComplete(MissingValues::Allow))
      return error;
    return readAll();
  }

private:
  enum class MissingValues : std::uint8_t { Refuse, Allow };

  llvm::Error addWeights(const std::filesystem::path& path) {
    if (path.extension() != kSafetensors)
      return failure(fmt::format("{}: weights are read from .safetensors files; {}", path.string(),
                                 sources.options.array.empty()
                                     ? "write the array into one, under the name of its argument"
                                     : "give a single array with " + sources.options.array));
    return addSafetensors(path);
  }

  llvm::Error addSafetensors(const std::filesystem::path& path) {
    auto file = SafetensorsFile::open(path);
    if (!file)
      return failure(file.error().message());
    const auto held = std::make_shared<const SafetensorsFile>(std::move(*file));
    for (const SafetensorsEntry& entry : held->entries()) {
      const Origin origin{held, &entry};
      const auto found = index.find(entry.name);
      if (found == index.end())
        unused.push_back(origin);
      else if (llvm::Error error = assign(found->second, origin))
        return error;
    }
    return llvm::Error::success();
  }

  llvm::Error addInput(const InputFile& input) {
    if (input.path.extension() == kSafetensors) {
      if (!input.argument.empty())
        return failure(fmt::format(
            "{}: a .safetensors file binds its tensors by their own names; give it without "
            "\"{}=\", or give {}=FILE.npy",
            input.path.string(), input.argument, input.argument));
      return addSafetensors(input.path);
    }
    if (input.path.extension() != ".npy")
      return failure(fmt::format("{}: cannot tell what it is: expected a name that ends in .npy or "
                                 ".safetensors",
                                 input.path.string()));
    if (input.argument.empty()) {
      positional.push_back(input.path);
      return llvm::Error::success();
    }
    const auto found = index.find(input.argument);
    if (found == index.end())
      return failure(fmt::format("{}: {} has no argument {}{}\n  available: {}",
                                 input.path.string(), program, checkpoint::inQuotes(input.argument),
                                 near(input.argument, names), base::someOf(names)));
    return assign(found->second, Origin{.npy = input.path});
  }

  llvm::Error addPositional(const std::filesystem::path& path) {
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (!origins[i] && !arguments[i].given && !arguments[i].isParameter &&
          !arguments[i].isOfPlatform)
        return assign(i, Origin{.npy = path});
    return failure(fmt::format("{}: no argument of {} is left for it: all that are not parameters "
                               "have a value; leave it out, or name its argument (NAME={})",
                               path.string(), program, path.string()));
  }

  llvm::Error assign(std::size_t argument, Origin origin) {
    if (origins[argument])
      return failure(fmt::format("argument {} of {} has two values:\n  {}\n  {}\n  leave one out",
                                 checkpoint::inQuotes(arguments[argument].name), program,
                                 origins[argument]->describe(), origin.describe()));
    origins[argument] = std::move(origin);
    return llvm::Error::success();
  }

  static std::string near(const std::string& name, const std::vector<std::string>& known) {
    const std::vector<std::string> found = base::nearNames(name, known);
    return found.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(found, ", "));
  }

  /// Checks that every argument has a value and every tensor an argument. One message has both
  /// lists, because a misspelled name is in both.
  llvm::Error checkComplete(MissingValues allowed = MissingValues::Refuse) const {
    static constexpr std::size_t kMostLines = 10;
    std::vector<std::string> unusedNames, missingNames;
    for (const Origin& origin : unused)
      unusedNames.push_back(origin.entry->name);
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (allowed == MissingValues::Refuse && !origins[i] && !arguments[i].given) {
        missing.push_back(i);
        missingNames.push_back(arguments[i].name);
      }
    const auto lineOfMissing = [&](std::size_t at) {
      const program::Argument& argument = arguments[missing[at]];
      return fmt::format("  {} {}{}", checkpoint::inQuotes(argument.name), argument.describe(),
                         near(argument.name, unusedNames));
    };
    const auto lineOfExtra = [&](std::size_t at) {
      const SafetensorsEntry& entry = *unused[at].entry;
      return fmt::format("  {} {}[{}]{}", unused[at].describe(), entry.dtype->name,
                         fmt::join(entry.shape, ", "),
                         near(entry.name, missingNames.empty() ? names : missingNames));
    };
    // Near names are only searched for lines that are printed.
    const auto listed = [](std::size_t count, const auto& lineOf) {
      std::vector<std::string> lines;
      for (std::size_t at = 0; at < std::min(count, kMostLines); ++at)
        lines.push_back(lineOf(at));
      if (count > kMostLines)
        lines.push_back(fmt::format("  ... and {} more", count - kMostLines));
      return fmt::format("{}", fmt::join(lines, "\n"));
    };
    const std::size_t extra = sources.unused == UnusedTensors::Refuse ? unused.size() : 0;
    std::string message;
    if (!missing.empty())
      message += fmt::format("{} argument{} of {} no value:\n{}\n  give a weight in a --weights "
                             "file, an input with {}",
                             missing.size(), missing.size() == 1 ? "" : "s",
                             program + (missing.size() == 1 ? " has" : " have"),
                             listed(missing.size(), lineOfMissing), sources.options.array) +
                 program::sourceOfState(missingNames);
    if (extra > 0)
      message += fmt::format("{}{} tensor{} of {}:\n{}\n  take {} out of the file, or "
                             "pass {}",
                             message.empty() ? "" : "\n", extra,
                             extra == 1 ? " is not an argument" : "s are not arguments", program,
                             listed(extra, lineOfExtra), extra == 1 ? "it" : "them",
                             sources.options.ignoreUnused);
    return message.empty() ? llvm::Error::success() : failure(message);
  }

  /// Reads single arrays and compares types first, because weights take time.
  llvm::Expected<std::vector<std::optional<Value>>> readAll() {
    std::vector<std::optional<Value>> values(arguments.size());
    std::vector<std::size_t> inFiles;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!origins[i]) {
        values[i] = arguments[i].given;
        continue;
      }
      if (origins[i]->file) {
        inFiles.push_back(i);
        continue;
      }
      llvm::Expected<Value> value = read(arguments[i], *origins[i]);
      if (!value)
        return value.takeError();
      values[i] = std::move(*value);
    }
    for (std::size_t i : inFiles)
      if (llvm::Error error = checkType(arguments[i], *origins[i]))
        return error;
    if (sources.reading == Reading::Later)
      std::erase_if(inFiles, [&](std::size_t i) {
        if (!canBeUnread(arguments[i]))
          return false;
        values[i] = unread(arguments[i], *origins[i]);
        return true;
      });

    std::vector<std::string> errors(arguments.size());
    base::forEach(static_cast<std::int64_t>(inFiles.size()), [&](std::int64_t at) {
      const std::size_t i = inFiles[static_cast<std::size_t>(at)];
      llvm::Expected<Value> value = read(arguments[i], *origins[i]);
      if (value)
        values[i] = std::move(*value);
      else
        errors[i] = llvm::toString(value.takeError());
    });
    for (const std::string& error : errors)
      if (!error.empty())
        return failure(error);
    return values;
  }

  /// Whether the tensor's bytes in the file need no check and are those in memory.
  static bool canBeUnread(const program::Argument& argument) {
    if (argument.isScaled())
      return false;
    const auto& type = std::get<ElementType>(argument.type);
    return (type.isFloat() || type.isInteger()) && type.width() >= 8;
  }

  static Value unread(const program::Argument& argument, const Origin& origin) {
    return Value(program::UnreadTensor{
        std::get<ElementType>(argument.type), origin.entry->shape,
        [file = origin.file, entry = origin.entry](
            std::uint64_t offset, std::span<std::byte> to) -> tl::expected<void, std::string> {
          return file->fetch(*entry, offset, to).map_error([](const checkpoint::Error& error) {
            return error.message();
          });
        }});
  }

  llvm::Expected<Value> read(const program::Argument& argument, const Origin& origin) const {
    auto tensor = origin.file ? origin.file->read(*origin.entry) : checkpoint::readNpy(origin.npy);
    if (!tensor)
      return failure(tensor.error().message());
    if (!origin.file)
      if (llvm::Error error = checkType(argument, origin, tensor->type, tensor->shape))
        return error;
    if (argument.isScaled())
      return quantize(argument, origin, *tensor);
    const auto& type = std::get<ElementType>(argument.type);
    if (llvm::Error error = checkStorage(argument, origin, *tensor, type))
      return error;
    tensor->type = type;
    return Value(std::move(*tensor));
  }

  llvm::Error checkStorage(const program::Argument& argument, const Origin& origin,
                           const Tensor& tensor, const ElementType& type) const {
    if (const auto beyond = program::firstBeyondStorage(type, tensor))
      return failure(fmt::format("{}: cannot be argument {} of {}: element [{}] is {}, and the "
                                 "storage of {} goes from {} to {}",
                                 origin.describe(), checkpoint::inQuotes(argument.name), program,
                                 fmt::join(program::indexOf(tensor.shape, beyond->index), ", "),
                                 beyond->value, argument.describe(), type.quantized().storageMin,
                                 type.quantized().storageMax));
    return llvm::Error::success();
  }

  llvm::Error checkType(const program::Argument& argument, const Origin& origin) const {
    // A dtype without a type in memory is refused by the reader, with its own message.
    const SafetensorsEntry& entry = *origin.entry;
    return entry.dtype->type ? checkType(argument, origin, *entry.dtype->type, entry.shape)
                             : llvm::Error::success();
  }

  llvm::Error checkType(const program::Argument& argument, const Origin& origin,
                        const ElementType& type, const std::vector<std::int64_t>& shape) const {
    const std::string what = fmt::format("{}: cannot be argument {} of {}: ", origin.describe(),
                                         checkpoint::inQuotes(argument.name), program);
    const std::string both =
        fmt::format("expected {}, found {}", argument.describe(), program::describe(type, shape));
    if (!argument.takes(shape)) {
      std::vector<std::int64_t> found = shape, expected = argument.shape;
      std::sort(found.begin(), found.end());
      std::sort(expected.begin(), expected.end());
      return failure(what + "wrong shape: " + both + (found == expected ? "; transpose it" : ""));
    }
    if (!argument.isScaled() && type != program::typeInFiles(std::get<ElementType>(argument.type)))
      return failure(what + "wrong element type: " + both + "; convert it first");
    const bool isQuantizable = type == ElementType(element("f32")) ||
                               type == ElementType(element("f16")) ||
                               type == ElementType(element("bf16"));
    if (argument.isScaled() && !isQuantizable)
      return failure(what + "wrong element type: " + both +
                     "; it is quantized from f32, f16 or bf16: convert it to one");
    return llvm::Error::success();
  }

  llvm::Expected<Value> quantize(const program::Argument& argument, const Origin& origin,
                                 const Tensor& tensor) const {
    auto value = program::quantizedFor(argument, tensor);
    if (value)
      return std::move(*value);
    return failure(fmt::format("{}: cannot be quantized to {}: {}", origin.describe(),
                               argument.describe(),
                               program::describeRefused(argument, value.error())));
  }

  std::span<const program::Argument> arguments;
  const Sources& sources;
  const std::string& program;
  llvm::StringMap<std::size_t> index;
  std::vector<std::string> names;
  std::vector<std::filesystem::path> positional;
  std::vector<std::optional<Origin>> origins;
  std::vector<Origin> unused;
};

} // namespace

/// Reads an unread value. The returned error is empty on success.
static std::string readIn(Value& value) {
  const program::UnreadTensor& source = value.unread();
  Tensor tensor{source.type, source.shape, numerics::Bytes::unset(source.bytes())};
  if (auto done = source.read(0, tensor.bytes); !done)
    return done.error();
  value = Value(std::move(tensor));
  return "";
}

llvm::Expected<std::vector<Value>> readUnread(std::span<const Value> values) {
  std::vector<Value> result(values.begin(), values.end());
  for (Value& value : result)
    if (value.isUnread())
      if (const std::string error = readIn(value); !error.empty())
        return failure(error);
  return result;
}

llvm::Error takeUnread(const program::Executable& executable, std::span<Value> values) {
  std::vector<std::size_t> unread;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i].isUnread())
      unread.push_back(i);
  std::vector<std::string> errors(values.size());
  base::forEach(static_cast<std::int64_t>(unread.size()), [&](std::int64_t at) {
    const std::size_t i = unread[static_cast<std::size_t>(at)];
    if (!executable.takesUnread(i))
      errors[i] = readIn(values[i]);
    else if (const program::Outcome bound = executable.bind(i, values[i]); !bound)
      errors[i] = bound.error();
  });
  for (const std::string& error : errors)
    if (!error.empty())
      return failure(error);
  return llvm::Error::success();
}

Sources weightsOf(std::span<const std::string> files, bool ignoresUnused) {
  return {.weights = {files.begin(), files.end()},
          .unused = ignoresUnused ? UnusedTensors::Ignore : UnusedTensors::Refuse};
}

llvm::Expected<std::vector<std::string>> tensorNames(std::span<const std::string> files) {
  std::vector<std::string> names;
  for (const std::filesystem::path path : files) {
    if (path.extension() != kSafetensors)
      continue;
    const auto file = SafetensorsFile::open(path);
    if (!file)
      return failure(file.error().message());
    for (const SafetensorsEntry& entry : file->entries())
      names.push_back(entry.name);
  }
  return names;
}

llvm::Expected<std::vector<Value>> bindArguments(std::span<const program::Argument> arguments,
                                                 const Sources& sources,
                                                 const std::string& program) {
  return Binder(arguments, sources, program).bind();
}

llvm::Expected<std::vector<std::optional<Value>>>
bindNamed(std::span<const program::Argument> arguments, const Sources& sources,
          const std::string& program) {
  return Binder(arguments, sources, program).bindNamed();
}

} // namespace octavo::session
