// Implements octavo_program.h.
#include "octavo/Program/Folder/octavo_program.h"

#include "octavo/Base/FloatEnvironment.h"
#include "octavo/Base/Loops.h"
#include "octavo/Base/Threads.h"
#include "octavo/Program/Folder/LoadedProgram.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

using octavo::numerics::Bytes;
using octavo::program::LoadedProgram;
using octavo::program::Value;

struct octavo_program {
  std::unique_ptr<LoadedProgram> loaded;
  std::vector<std::string> argumentTypes, resultTypes;
};

namespace {

std::string& lastError() {
  thread_local std::string text;
  return text;
}

std::size_t bytesOf(const LoadedProgram::Tensor& tensor, std::int64_t items) {
  return static_cast<std::size_t>(octavo::numerics::elementCount(tensor.shapeOf(items))) *
         static_cast<std::size_t>(tensor.type.bytes());
}

octavo_tensor described(const std::vector<LoadedProgram::Tensor>& tensors,
                        const std::vector<std::string>& types, std::size_t index) {
  if (index >= tensors.size())
    return {.name = nullptr,
            .type = nullptr,
            .element_bytes = 0,
            .rank = 0,
            .shape = nullptr,
            .bytes = 0,
            .items_axis = 0,
            .item_extent = 0,
            .item_bytes = 0};
  const LoadedProgram::Tensor& tensor = tensors[index];
  const int axis = tensor.openAxis();
  return {.name = tensor.name.c_str(),
          .type = types[index].c_str(),
          .element_bytes = static_cast<std::size_t>(tensor.type.bytes()),
          .rank = tensor.ofOne.size(),
          .shape = tensor.ofOne.data(),
          .bytes = bytesOf(tensor, 1),
          .items_axis = axis,
          .item_extent = axis < 0 ? 0 : tensor.shape[static_cast<std::size_t>(axis)].factor,
          .item_bytes = bytesOf(tensor, 2) - bytesOf(tensor, 1)};
}

/// Calls f. Its exception or returned error becomes the thread's last error.
template <typename F> bool succeeds(const F& f) {
  const octavo::base::DefaultFloatEnvironment environment; // the caller may have changed it
  std::string why;
  try {
    std::optional<std::string> error = f();
    if (!error)
      return true;
    why = std::move(*error);
  } catch (const std::bad_alloc&) {
    why = "there is not enough memory";
  } catch (const std::exception& error) {
    why = error.what();
  }
  lastError() = std::move(why);
  return false;
}

/// Why a pointer cannot be that of a tensor's elements; nullopt if it can.
std::optional<std::string> wrongPointer(const void* memory, std::size_t bytes,
                                        const LoadedProgram::Tensor& tensor, const char* what,
                                        std::size_t number) {
  if (bytes == 0)
    return std::nullopt;
  if (memory == nullptr)
    return fmt::format("{} {} (\"{}\") is a null pointer", what, number, tensor.name);
  const auto alignment = static_cast<std::uintptr_t>(
      tensor.type.isComplex() ? tensor.type.bytes() / 2 : tensor.type.bytes());
  if (reinterpret_cast<std::uintptr_t>(memory) % alignment != 0)
    return fmt::format("{} {} (\"{}\") is not aligned to its elements of {} bytes", what, number,
                       tensor.name, tensor.type.bytes());
  return std::nullopt;
}

/// Checks elements narrower than a byte: returns why an element is not a code of its type. Sets
/// `hasSigns` if there are signed integers that repeat their sign in the bits above, which
/// withoutSigns removes.
std::optional<std::string> wrongCode(std::span<const std::byte> elements,
                                     const LoadedProgram::Tensor& tensor, std::size_t number,
                                     bool& hasSigns) {
  if (tensor.type.isComplex() || tensor.type.width() >= 8)
    return std::nullopt;
  const auto above = static_cast<std::byte>(0xFF << tensor.type.width());
  std::byte all{}; // a loop without an early exit, so that the compiler vectorizes it
  for (const std::byte each : elements)
    all |= each;
  if ((all & above) == std::byte{})
    return std::nullopt;
  const bool isSigned =
      tensor.type.isInteger() && !tensor.type.isBoolean() && !tensor.type.integer().isUnsigned;
  const std::byte sign = above >> 1;
  const auto isNone = [&](std::byte each) {
    return (each & above) != std::byte{} &&
           !(isSigned && (each & (above | sign)) == (above | sign));
  };
  const auto found = std::ranges::find_if(elements, isNone);
  hasSigns = true;
  if (found == elements.end())
    return std::nullopt;
  return fmt::format("argument {} (\"{}\") has 0x{:02x} at element {}, which is not a code of {}: "
                     "that has {} bit{}, one element in a byte",
                     number, tensor.name, std::to_integer<int>(*found), found - elements.begin(),
                     tensor.type.name(), tensor.type.width(), tensor.type.width() == 1 ? "" : "s");
}

Value withoutSigns(const octavo::numerics::Tensor& tensor) {
  octavo::numerics::Tensor own(tensor);
  const auto mask = static_cast<std::byte>((1 << tensor.type.width()) - 1);
  for (std::byte& each : own.bytes)
    each &= mask;
  return Value(std::move(own));
}

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::less<>()(a.data(), b.data() + b.size()) &&
         std::less<>()(b.data(), a.data() + a.size());
}

/// Why a result cannot lie in its memory; nullopt if it can.
std::optional<std::string> wrongPlace(const LoadedProgram& program, std::size_t number,
                                      std::span<const Value> arguments,
                                      std::span<const std::span<std::byte>> results) {
  const std::span<const std::byte> own = results[number];
  const std::string& name = program.results()[number].name;
  for (std::size_t i = 0; i < number; ++i)
    if (overlap(own, results[i]))
      return fmt::format("result {} (\"{}\") shares memory with result {} (\"{}\")", number, name,
                         i, program.results()[i].name);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto& given = arguments[i].tensor().bytes;
    if (overlap(own, given) && (given.data() != own.data() || given.size() != own.size()))
      return fmt::format("result {} (\"{}\") shares memory with argument {} (\"{}\"), but not from "
                         "the first byte to the last",
                         number, name, i, program.arguments()[i].name);
  }
  return std::nullopt;
}

std::optional<std::string> run(LoadedProgram& program, std::int64_t items,
                               const void* const* arguments, void* const* results) {
  if (auto wrong = program.checkItems(items); !wrong)
    return std::move(wrong.error());
  if (arguments == nullptr && !program.arguments().empty())
    return "the array of arguments is a null pointer";
  if (results == nullptr && !program.results().empty())
    return "the array of results is a null pointer";
  std::vector<Value> values;
  std::vector<bool> haveSigns;
  for (std::size_t i = 0; i < program.arguments().size(); ++i) {
    const LoadedProgram::Tensor& tensor = program.arguments()[i];
    const std::size_t bytes = bytesOf(tensor, items);
    if (auto wrong = wrongPointer(arguments[i], bytes, tensor, "argument", i))
      return wrong;
    auto* memory = static_cast<std::byte*>(const_cast<void*>(arguments[i]));
    bool hasSigns = false;
    if (auto wrong = wrongCode({memory, bytes}, tensor, i, hasSigns))
      return wrong;
    haveSigns.push_back(hasSigns);
    values.emplace_back(octavo::numerics::Tensor{tensor.type, tensor.shapeOf(items),
                                                 Bytes::lent({memory, bytes}, nullptr)});
  }
  std::vector<std::span<std::byte>> memory;
  for (std::size_t i = 0; i < program.results().size(); ++i) {
    const LoadedProgram::Tensor& tensor = program.results()[i];
    const std::size_t bytes = bytesOf(tensor, items);
    if (auto wrong = wrongPointer(results[i], bytes, tensor, "result", i))
      return wrong;
    memory.emplace_back(static_cast<std::byte*>(results[i]), bytes);
    if (auto wrong = wrongPlace(program, i, values, memory))
      return wrong;
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    if (haveSigns[i])
      values[i] = withoutSigns(values[i].tensor());
  const octavo::program::RunContext host;
  auto done = program.runInto(values, host, memory);
  return done ? std::nullopt : std::optional(std::move(done.error()));
}

} // namespace

octavo_program* octavo_program_load(const char* folder) {
  octavo_program* made = nullptr;
  succeeds([&]() -> std::optional<std::string> {
    if (folder == nullptr)
      return "the folder is a null pointer";
    auto loaded = LoadedProgram::load(folder);
    if (!loaded)
      return std::move(loaded.error());
    auto program = std::make_unique<octavo_program>();
    for (const LoadedProgram::Tensor& tensor : (*loaded)->arguments())
      program->argumentTypes.push_back(tensor.type.name());
    for (const LoadedProgram::Tensor& tensor : (*loaded)->results())
      program->resultTypes.push_back(tensor.type.name());
    program->loaded = std::move(*loaded);
    made = program.release();
    return std::nullopt;
  });
  return made;
}

void octavo_program_free(octavo_program* program) { delete program; }

size_t octavo_program_argument_count(const octavo_program* program) {
  return program == nullptr ? 0 : program->loaded->arguments().size();
}
size_t octavo_program_result_count(const octavo_program* program) {
  return program == nullptr ? 0 : program->loaded->results().size();
}

octavo_tensor octavo_program_argument(const octavo_program* program, size_t index) {
  if (program == nullptr)
    return described({}, {}, 0);
  return described(program->loaded->arguments(), program->argumentTypes, index);
}
octavo_tensor octavo_program_result(const octavo_program* program, size_t index) {
  if (program == nullptr)
    return described({}, {}, 0);
  return described(program->loaded->results(), program->resultTypes, index);
}

int64_t octavo_program_least_items(const octavo_program* program) {
  return program == nullptr ? 0 : program->loaded->items().least;
}
int64_t octavo_program_most_items(const octavo_program* program) {
  return program == nullptr ? 0 : program->loaded->items().most;
}

int octavo_program_run(octavo_program* program, const void* const* arguments,
                       void* const* results) {
  return octavo_program_run_on(program, arguments, results, 0);
}

int octavo_program_run_on(octavo_program* program, const void* const* arguments,
                          void* const* results, int threads) {
  return octavo_program_run_items(program, 1, arguments, results, threads);
}

int octavo_program_run_items(octavo_program* program, int64_t items, const void* const* arguments,
                             void* const* results, int threads) {
  const bool isDone = succeeds([&]() -> std::optional<std::string> {
    if (program == nullptr)
      return "the program is a null pointer";
    if (threads < 0)
      return fmt::format("{} threads cannot run anything", threads);
    if (threads == 0)
      return run(*program->loaded, items, arguments, results);
    std::optional<std::string> wrong;
    octavo::base::withThreads(octavo::base::usefulThreads(threads),
                              [&] { wrong = run(*program->loaded, items, arguments, results); });
    return wrong;
  });
  return isDone ? 0 : -1;
}

const char* octavo_last_error(void) { return lastError().c_str(); }
