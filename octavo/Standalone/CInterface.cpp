// octavo_program.h.
#include "octavo/Standalone/octavo_program.h"

#include "octavo/Parallel/Loops.h"
#include "octavo/Parallel/Threads.h"
#include "octavo/Standalone/LoadedProgram.h"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

using octavo::execution::Value;
using octavo::numerics::Bytes;
using octavo::standalone::LoadedProgram;

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

/// Calls f; what it throws or says is the thread's last error.
template <typename F> bool succeeds(const F& f) {
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

/// Why a pointer is none to the tensor's elements.
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

std::optional<std::string> run(LoadedProgram& program, std::int64_t items,
                               const void* const* arguments, void* const* results) {
  if (auto wrong = program.checkItems(items); !wrong)
    return std::move(wrong.error());
  std::vector<Value> values;
  for (std::size_t i = 0; i < program.arguments().size(); ++i) {
    const LoadedProgram::Tensor& tensor = program.arguments()[i];
    const std::size_t bytes = bytesOf(tensor, items);
    if (auto wrong = wrongPointer(arguments[i], bytes, tensor, "argument", i))
      return wrong;
    auto* memory = static_cast<std::byte*>(const_cast<void*>(arguments[i]));
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
  }
  const octavo::execution::Host host;
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
  return program->loaded->arguments().size();
}
size_t octavo_program_result_count(const octavo_program* program) {
  return program->loaded->results().size();
}

octavo_tensor octavo_program_argument(const octavo_program* program, size_t index) {
  return described(program->loaded->arguments(), program->argumentTypes, index);
}
octavo_tensor octavo_program_result(const octavo_program* program, size_t index) {
  return described(program->loaded->results(), program->resultTypes, index);
}

int64_t octavo_program_least_items(const octavo_program* program) {
  return program->loaded->items().least;
}
int64_t octavo_program_most_items(const octavo_program* program) {
  return program->loaded->items().most;
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
    if (threads < 0)
      return fmt::format("{} threads cannot run anything", threads);
    if (threads == 0)
      return run(*program->loaded, items, arguments, results);
    std::optional<std::string> wrong;
    octavo::parallel::withThreads(octavo::parallel::usefulThreads(threads), [&] {
      wrong = run(*program->loaded, items, arguments, results);
    });
    return wrong;
  });
  return isDone ? 0 : -1;
}

const char* octavo_last_error(void) { return lastError().c_str(); }
