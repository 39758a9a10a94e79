// A compiled program that has run before, with results in the caller's memory, allocates nothing.
// The test counts all calls of malloc and its like in the process during a run. It is not built
// with sanitizers, which have their own allocator.
#include "octavo/Compiler/Codegen/Compiled.h"
#include "octavo/Interpreter/Interpreter.h"
#include "octavo/Kernels/QuantizedTensor.h"
#include "octavo/Numerics/Conversion.h"
#include "octavo/Program/Folder/LoadedProgram.h"
#include "octavo/Program/Values/Savable.h"
#include "octavo/Session/Backends.h"
#include "octavo/Session/Binding/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <thread>

namespace {
std::atomic<bool> isCounting = false;
std::atomic<int> allocations = 0;

void count() {
  if (isCounting.load(std::memory_order_relaxed))
    allocations.fetch_add(1, std::memory_order_relaxed);
}
} // namespace

// The C library's allocation functions, under the names for wrappers.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming)
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t items, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
// NOLINTEND(readability-identifier-naming)

void* malloc(std::size_t size) {
  count();
  return __libc_malloc(size);
}
void* calloc(std::size_t items, std::size_t size) {
  count();
  return __libc_calloc(items, size);
}
void* realloc(void* old, std::size_t size) {
  count();
  return __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  count();
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}

namespace octavo::session {
namespace {

using numerics::Tensor;
using program::Value;

/// An encoder layer: two sequences of 64 tokens, embedding, attention with 4 heads, a layer norm,
/// two products with GELU between them, and an updated cache.
constexpr const char* kLayer = R"(
func.func @main(%ids: tensor<2x64xi32> loc("ids"), %cache: tensor<4x8x128xf32> loc("cache"),
                %table: tensor<100x128xf32> loc("table"), %query: tensor<128x128xf32> loc("query"),
                %key: tensor<128x128xf32> loc("key"), %value: tensor<128x128xf32> loc("value"),
                %up: tensor<512x128xf32> loc("up"), %down: tensor<128x512xf32> loc("down"))
    -> (tensor<2x64x128xf32>, tensor<4x8x128xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %column = stablehlo.reshape %ids : (tensor<2x64xi32>) -> tensor<2x64x1xi32>
  %x = "stablehlo.gather"(%table, %column) {
    dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 128>} : (tensor<100x128xf32>, tensor<2x64x1xi32>) -> tensor<2x64x128xf32>
  %q0 = stablehlo.dot_general %x, %query, contracting_dims = [2] x [1] : (tensor<2x64x128xf32>, tensor<128x128xf32>) -> tensor<2x64x128xf32>
  %k0 = stablehlo.dot_general %x, %key, contracting_dims = [2] x [1] : (tensor<2x64x128xf32>, tensor<128x128xf32>) -> tensor<2x64x128xf32>
  %v0 = stablehlo.dot_general %x, %value, contracting_dims = [2] x [1] : (tensor<2x64x128xf32>, tensor<128x128xf32>) -> tensor<2x64x128xf32>
  %q = stablehlo.reshape %q0 : (tensor<2x64x128xf32>) -> tensor<2x64x4x32xf32>
  %k = stablehlo.reshape %k0 : (tensor<2x64x128xf32>) -> tensor<2x64x4x32xf32>
  %v = stablehlo.reshape %v0 : (tensor<2x64x128xf32>) -> tensor<2x64x4x32xf32>
  %scores = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x64x4x32xf32>, tensor<2x64x4x32xf32>) -> tensor<2x4x64x64xf32>
  %most = stablehlo.reduce(%scores init: %least) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x64x64xf32>, tensor<f32>) -> tensor<2x4x64xf32>
  %most1 = stablehlo.broadcast_in_dim %most, dims = [0, 1, 2] : (tensor<2x4x64xf32>) -> tensor<2x4x64x64xf32>
  %less = stablehlo.subtract %scores, %most1 : tensor<2x4x64x64xf32>
  %e = stablehlo.exponential %less : tensor<2x4x64x64xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x64x64xf32>, tensor<f32>) -> tensor<2x4x64xf32>
  %sum1 = stablehlo.broadcast_in_dim %sum, dims = [0, 1, 2] : (tensor<2x4x64xf32>) -> tensor<2x4x64x64xf32>
  %shares = stablehlo.divide %e, %sum1 : tensor<2x4x64x64xf32>
  %mixed = stablehlo.dot_general %shares, %v, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x4x64x64xf32>, tensor<2x64x4x32xf32>) -> tensor<2x4x64x32xf32>
  %turned = stablehlo.transpose %mixed, dims = [0, 2, 1, 3] : (tensor<2x4x64x32xf32>) -> tensor<2x64x4x32xf32>
  %joined = stablehlo.reshape %turned : (tensor<2x64x4x32xf32>) -> tensor<2x64x128xf32>
  %y = stablehlo.add %x, %joined : tensor<2x64x128xf32>
  %upped = stablehlo.dot_general %y, %up, contracting_dims = [2] x [1] : (tensor<2x64x128xf32>, tensor<512x128xf32>) -> tensor<2x64x512xf32>
  %gated = stablehlo.logistic %upped : tensor<2x64x512xf32>
  %active = stablehlo.multiply %upped, %gated : tensor<2x64x512xf32>
  %downed = stablehlo.dot_general %active, %down, contracting_dims = [2] x [1] : (tensor<2x64x512xf32>, tensor<128x512xf32>) -> tensor<2x64x128xf32>
  %out = stablehlo.add %y, %downed : tensor<2x64x128xf32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %new = stablehlo.slice %out [0:2, 0:2, 0:128] : (tensor<2x64x128xf32>) -> tensor<2x2x128xf32>
  %next = stablehlo.dynamic_update_slice %cache, %new, %two, %two, %two
      : (tensor<4x8x128xf32>, tensor<2x2x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x128xf32>
  return %out, %next : tensor<2x64x128xf32>, tensor<4x8x128xf32>
})";

/// All steps that need working memory.
constexpr const char* kMatrices = R"(
func.func @main(%x: tensor<16x24x24xf32>, %y: tensor<16x24x24xf32>) -> (tensor<16x24x24xf32>, tensor<16x24x24xf32>) {
  %z = stablehlo.complex %x, %y : tensor<16x24x24xcomplex<f32>>
  %p = stablehlo.dot_general %z, %z, batching_dims = [0] x [0], contracting_dims = [2] x [1]
      : (tensor<16x24x24xcomplex<f32>>, tensor<16x24x24xcomplex<f32>>) -> tensor<16x24x24xcomplex<f32>>
  %f = stablehlo.fft %p, type = FFT, length = [24, 24] : (tensor<16x24x24xcomplex<f32>>) -> tensor<16x24x24xcomplex<f32>>
  %r = stablehlo.real %f : (tensor<16x24x24xcomplex<f32>>) -> tensor<16x24x24xf32>
  %l = stablehlo.cholesky %x, lower = true : tensor<16x24x24xf32>
  %s = "stablehlo.triangular_solve"(%l, %y) {left_side = true, lower = true, unit_diagonal = false,
      transpose_a = #stablehlo<transpose NO_TRANSPOSE>}
      : (tensor<16x24x24xf32>, tensor<16x24x24xf32>) -> tensor<16x24x24xf32>
  return %r, %s : tensor<16x24x24xf32>, tensor<16x24x24xf32>
})";

/// Products with a right operand made at run time, as in a training step; a loop; and a kernel with
/// more than 32 arguments.
std::string training() {
  std::string arguments, sum = "%y", body;
  for (int i = 0; i < 40; ++i) {
    arguments += ", %a" + std::to_string(i) + ": tensor<64x64xf32>";
    body += "  %s" + std::to_string(i) + " = stablehlo.add " + sum + ", %a" + std::to_string(i) +
            " : tensor<64x64xf32>\n";
    sum = "%s" + std::to_string(i);
  }
  return "func.func @main(%x: tensor<64x64xf32>" + arguments + R"() -> tensor<64x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<64x64xf32>
   cond {
    %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.tanh %y : tensor<64x64xf32>
    %3 = stablehlo.dot_general %y, %2, contracting_dims = [0] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    stablehlo.return %1, %3 : tensor<i32>, tensor<64x64xf32>
  }
  %y = stablehlo.tanh %0#1 : tensor<64x64xf32>
)" + body +
         "  return " + sum + " : tensor<64x64xf32>\n}";
}

/// Sorts by keys (merge sort of short lines, radix sort of long ones along the first axis), and by
/// a comparator of two tensors that keys cannot express.
constexpr const char* kSorts = R"(
func.func @main(%x: tensor<40x50xf32> loc("x"), %y: tensor<3000x8xf32> loc("y"), %z: tensor<70x30xf32> loc("z"))
    -> (tensor<40x50xf32>, tensor<40x50xi32>, tensor<3000x8xf32>, tensor<70x30xf32>, tensor<70x30xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<40x50xi32>
  %0:2 = "stablehlo.sort"(%x, %i) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<40x50xf32>, tensor<40x50xi32>) -> (tensor<40x50xf32>, tensor<40x50xi32>)
  %1 = "stablehlo.sort"(%y) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 0 : i64, is_stable = false} : (tensor<3000x8xf32>) -> tensor<3000x8xf32>
  %j = stablehlo.iota dim = 0 : tensor<70x30xi32>
  %2:2 = "stablehlo.sort"(%z, %j) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %seven = stablehlo.constant dense<7> : tensor<i32>
    %rc = stablehlo.remainder %c, %seven : tensor<i32>
    %rd = stablehlo.remainder %d, %seven : tensor<i32>
    %less = stablehlo.compare LT, %rc, %rd : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %same = stablehlo.compare EQ, %rc, %rd : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %more = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %then = stablehlo.and %same, %more : tensor<i1>
    %p = stablehlo.or %less, %then : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<70x30xf32>, tensor<70x30xi32>) -> (tensor<70x30xf32>, tensor<70x30xi32>)
  return %0#0, %0#1, %1, %2#0, %2#1 : tensor<40x50xf32>, tensor<40x50xi32>, tensor<3000x8xf32>, tensor<70x30xf32>, tensor<70x30xi32>
})";

/// Small integers; for scales, powers of two near 1.
Value drawn(const program::Argument& argument, std::mt19937& random) {
  std::uniform_int_distribution<int> number(-4, 4);
  const auto count = static_cast<std::size_t>(numerics::elementCount(argument.shape));
  std::vector<float> values(count);
  std::ranges::generate(values, [&] { return static_cast<float>(number(random)) / 4; });
  if (argument.isScaled()) {
    const auto& scaled = std::get<program::ScaledArgument>(argument.type);
    return *kernels::quantizedTensor(values.data(), argument.shape, scaled.type, scaled.options);
  }
  Tensor tensor = Tensor::zeros(std::get<numerics::ElementType>(argument.type), argument.shape);
  if (!tensor.type.isFloat())
    return tensor;
  const format::ElementFormat& format = tensor.type.format();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t code =
        numerics::encode(format, format.hasZero() ? values[i] : std::ldexp(1.0, int(i % 3) - 1));
    std::memcpy(tensor.bytes.data() + i * static_cast<std::size_t>(format.bytes()), &code,
                static_cast<std::size_t>(format.bytes()));
  }
  return tensor;
}

mlir::OwningOpRef<mlir::ModuleOp> parsed(const std::string& text, mlir::MLIRContext& context) {
  auto program = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  EXPECT_TRUE(program);
  return program;
}

mlir::func::FuncOp mainOf(mlir::ModuleOp program) {
  return program.lookupSymbol<mlir::func::FuncOp>("main");
}

template <typename T> T must(llvm::Expected<T> made) {
  EXPECT_TRUE(static_cast<bool>(made)) << llvm::toString(made.takeError());
  return std::move(*made);
}

/// A program's arguments, held as a caller holds them, and memory for its results.
class Operands {
public:
  /// Draws the same numbers each time. Scaled arguments are shared with `of`, if given.
  explicit Operands(mlir::func::FuncOp function, const Operands* of = nullptr) {
    std::mt19937 random(1);
    const auto arguments = must(session::argumentsOf(function));
    for (const program::Argument& argument : arguments) {
      Value value(drawn(argument, random));
      held.push_back(of != nullptr && argument.isScaled() ? of->held[held.size()] : value);
    }
    for (const mlir::Type type : function.getResultTypes()) {
      const auto tensor = mlir::cast<mlir::RankedTensorType>(type);
      results.emplace_back(static_cast<std::size_t>(tensor.getNumElements()) * 4);
    }
    memory.assign(results.begin(), results.end());
  }
  Operands(const Operands&) = delete;

  /// Runs the program without its first `bound` arguments, and returns the number of allocations.
  int run(program::Executable& executable, std::size_t bound = 0) {
    const program::RunContext host;
    values.assign(held.begin() + static_cast<std::ptrdiff_t>(bound), held.end());
    allocations = 0;
    isCounting = true;
    auto error = executable.runInto(values, host, memory);
    isCounting = false;
    expectNone(std::move(error));
    return allocations.load();
  }
  /// Runs the program without counting.
  void runBeside(program::Executable& executable) {
    const program::RunContext host;
    std::ranges::copy(held, values.begin());
    expectNone(executable.runInto(values, host, memory));
  }

  std::vector<Value> held;
  std::vector<std::vector<std::byte>> results;

private:
  static void expectNone(const program::Outcome& outcome) {
    EXPECT_TRUE(outcome.has_value()) << outcome.error();
  }

  std::vector<Value> values;
  std::vector<std::span<std::byte>> memory;
};

/// The steady-state result of run(i): 0 after kRow zeros in a row, else the last nonzero count. It
/// takes some runs until every thread has met the largest range of every loop.
template <typename Run> int allocationsInTheEnd(const Run& run) {
  constexpr int kMostRuns = 4000, kRow = 100;
  int last = 0;
  for (int i = 0, none = 0; i < kMostRuns; ++i) {
    const int found = run(i);
    none = found == 0 ? none + 1 : 0;
    if (none == kRow)
      return 0;
    last = found == 0 ? last : found;
  }
  return last;
}

std::unique_ptr<program::Executable> compiled(mlir::ModuleOp program) {
  auto made = must(find("compiled")->prepare(program, "main"));
  EXPECT_EQ(made->explain().interpretedWhole, "");
  EXPECT_TRUE(made->explain().interpreted.empty());
  return made;
}

/// The allocations of a run in steady state.
int allocationsOf(const std::string& text) {
  const auto context = session::makeContext();
  const auto program = parsed(text, *context);
  const auto executable = compiled(*program);
  Operands operands(mainOf(*program));
  return allocationsInTheEnd([&](int) { return operands.run(*executable); });
}

/// The allocations of concurrent runs. Their results must have the same bits as a single run.
int allocationsAtOnce(const std::string& text) {
  constexpr int kCallers = 4, kRuns = 30, kMostRounds = 40;
  const auto context = session::makeContext();
  const auto program = parsed(text, *context);
  const auto executable = compiled(*program);
  Operands alone(mainOf(*program));
  alone.run(*executable);
  std::vector<std::unique_ptr<Operands>> each;
  for (int i = 0; i < kCallers; ++i) {
    each.push_back(std::make_unique<Operands>(mainOf(*program), &alone));
    each.back()->run(*executable);
  }
  // Called when a round begins and when it ends, so that all threads see the same count.
  int found = 1;
  std::barrier turn(kCallers, [&]() noexcept {
    isCounting = !isCounting;
    if (isCounting)
      allocations = 0;
    else
      found = allocations;
  });
  std::vector<std::thread> callers;
  for (const auto& operands : each)
    callers.emplace_back([&] {
      for (int round = 0; round < kMostRounds && found != 0; ++round) {
        turn.arrive_and_wait();
        for (int i = 0; i < kRuns; ++i)
          operands->runBeside(*executable);
        turn.arrive_and_wait();
      }
    });
  for (std::thread& caller : callers)
    caller.join();
  for (const auto& operands : each)
    EXPECT_TRUE(operands->results == alone.results);
  return found;
}

/// Formats: the parts of a scaled type with 128 columns, and the scale rule.
struct Format {
  const char *name, *element, *scale, *along, *rest, *rule;
};
constexpr Format kFormats[] = {
    {"mxfp8", "f8E4M3FN", "f8E8M0FNU", "32", "", "floor"},
    {"mxfp4", "f4E2M1FN", "f8E8M0FNU", "32", "", "floor"},
    {"mxint8", "i8", "f8E8M0FNU", "32", "", "floor"},
    {"nvfp4", "f4E2M1FN", "f8E4M3FN", "16", ", outer f32", "nearest"},
    {"fp8", "f8E4M3FN", "f32", "128", "", "nearest"},
};

/// A scaled type with blocks along the last axis or the one before it.
std::string scaled(const Format& format, const std::vector<int>& shape, bool isAlongLast = true) {
  std::string text = "!octavo.scaled<", block;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += std::to_string(shape[i]) + "x";
    const bool isAlong = i + (isAlongLast ? 1 : 2) == shape.size();
    block += (i == 0 ? "" : ", ") + std::string(isAlong ? format.along : "1");
  }
  return text + format.element + ", scale " + format.scale + ", block [" + block + "]" +
         format.rest + ">";
}

std::string plain(const std::vector<int>& shape, const char* element = "f32") {
  std::string text = "tensor<";
  for (const int extent : shape)
    text += std::to_string(extent) + "x";
  return text + element + ">";
}

/// Products with few and many rows: of f32 by a weight, of activations that are also used
/// otherwise, of two operands quantized in the run, and in batches.
std::string scaledProducts(const Format& format) {
  const std::string rule = std::string("rule = ") + format.rule;
  const std::string w = scaled(format, {96, 128}), turned = scaled(format, {128, 96}, false);
  const std::string batch = scaled(format, {3, 40, 128});
  std::string arguments = "%w: " + w +
                          " {octavo.name = \"w\", octavo.parameter, octavo.quantize = "
                          "#octavo.quantization<" +
                          rule + ">}, %b: " + batch +
                          " {octavo.name = \"b\", octavo.parameter, octavo.quantize = "
                          "#octavo.quantization<" +
                          rule + ">}";
  std::string body, values, types;
  const auto give = [&](const std::string& value, const std::string& type) {
    values += (values.empty() ? "" : ", ") + value;
    types += (types.empty() ? "" : ", ") + type;
  };
  const auto line = [&](const std::string& text) { body += "  " + text + "\n"; };
  for (const int rows : {1, 5, 40, 300}) {
    const std::string n = std::to_string(rows), x = plain({rows, 128}), y = plain({rows, 96});
    const std::string q = scaled(format, {rows, 128});
    arguments += ", %x" + n + ": " + x;
    line("%wide" + n + " = octavo.dot_general %x" + n + ", %w, contracting_dims = [1] x [1] : (" +
         x + ", " + w + ") -> " + y);
    line("%q" + n + " = octavo.quantize %x" + n + ", " + rule + " : " + x + " -> " + q);
    line("%both" + n + " = octavo.dot_general %q" + n + ", %w, contracting_dims = [1] x [1] : (" +
         q + ", " + w + ") -> " + y);
    line("%act" + n + " = stablehlo.tanh %both" + n + " : " + y);
    line("%sum" + n + " = stablehlo.add %act" + n + ", %wide" + n + " : " + y);
    give("%sum" + n, y);
    // Values made in the run: a scaled tensor with two uses, and a right operand.
    line("%t" + n + " = stablehlo.tanh %x" + n + " : " + x);
    line("%s" + n + " = octavo.quantize %t" + n + ", " + rule + " : " + x + " -> " + q);
    line("%d" + n + " = octavo.dequantize %s" + n + " : " + q + " -> " + x);
    const std::string square = plain({rows, rows});
    line("%square" + n + " = octavo.dot_general %s" + n + ", %s" + n +
         ", contracting_dims = [1] x [1] : (" + q + ", " + q + ") -> " + square);
    give("%d" + n, x);
    give("%square" + n, square);
    const std::string z = plain({3, rows, 128}), zq = scaled(format, {3, rows, 128});
    const std::string zy = plain({3, rows, 40});
    arguments += ", %z" + n + ": " + z;
    line("%zq" + n + " = octavo.quantize %z" + n + ", " + rule + " : " + z + " -> " + zq);
    if (std::string(format.rest).empty()) { // an outer scale would span the whole batch
      line("%zy" + n + " = octavo.dot_general %zq" + n +
           ", %b, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (" + zq + ", " + batch +
           ") -> " + zy);
      give("%zy" + n, zy);
    }
    line("%zw" + n + " = octavo.dot_general %z" + n +
         ", %b, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (" + z + ", " + batch +
         ") -> " + zy);
    give("%zw" + n, zy);
  }
  return "func.func @main(" + arguments + ") -> (" + types + ") {\n" + body + "  return " + values +
         " : " + types + "\n}";
}

/// A quantized cache: each loop iteration appends to it, and attention reads it. The weights of the
/// iteration's products are given as parts.
constexpr const char* kDecoding = R"(
!c = tensor<4x96x64xf8E4M3FN>
!s = tensor<4x96x2xf8E8M0FNU>
!w = !octavo.scaled<64x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
!q = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
!n = !octavo.scaled<4x1x64xf8E4M3FN, scale f8E8M0FNU, block [1, 1, 32]>
!k = !octavo.scaled<4x96x64xf8E4M3FN, scale f8E8M0FNU, block [1, 1, 32]>
func.func private @project(%x: tensor<4x64xf32>, %w: !w) -> tensor<4x64xf32> {
  %q = octavo.quantize %x, rule = floor : tensor<4x64xf32> -> !q
  %y = octavo.dot_general %q, %w, contracting_dims = [1] x [1] : (!q, !w) -> tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}
func.func @main(%x: tensor<4x64xf32>, %codes: !c, %scales: !s, %e: tensor<64x64xf8E4M3FN>, %f: tensor<64x2xf8E8M0FNU>)
    -> tensor<4x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %w = octavo.pack %e, %f : (tensor<64x64xf8E4M3FN>, tensor<64x2xf8E8M0FNU>) -> !w
  %0:4 = stablehlo.while(%i = %zero, %y = %x, %c = %codes, %s = %scales) : tensor<i32>, tensor<4x64xf32>, !c, !s
   cond {
    %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %next = stablehlo.add %i, %one : tensor<i32>
    %p = func.call @project(%y, %w) : (tensor<4x64xf32>, !w) -> tensor<4x64xf32>
    %new = stablehlo.reshape %p : (tensor<4x64xf32>) -> tensor<4x1x64xf32>
    %qn = octavo.quantize %new, rule = floor : tensor<4x1x64xf32> -> !n
    %ce, %cs = octavo.unpack %qn : (!n) -> (tensor<4x1x64xf8E4M3FN>, tensor<4x1x2xf8E8M0FNU>)
    %c2 = stablehlo.dynamic_update_slice %c, %ce, %zero, %i, %zero : (!c, tensor<4x1x64xf8E4M3FN>, tensor<i32>, tensor<i32>, tensor<i32>) -> !c
    %s2 = stablehlo.dynamic_update_slice %s, %cs, %zero, %i, %zero : (!s, tensor<4x1x2xf8E8M0FNU>, tensor<i32>, tensor<i32>, tensor<i32>) -> !s
    %k = octavo.pack %c2, %s2 : (!c, !s) -> !k
    %scores = octavo.dot_general %new, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x1x64xf32>, !k) -> tensor<4x1x96xf32>
    %shares = stablehlo.logistic %scores : tensor<4x1x96xf32>
    %v = octavo.dequantize %k : !k -> tensor<4x96x64xf32>
    %mixed = stablehlo.dot_general %shares, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x1x96xf32>, tensor<4x96x64xf32>) -> tensor<4x1x64xf32>
    %out = stablehlo.reshape %mixed : (tensor<4x1x64xf32>) -> tensor<4x64xf32>
    stablehlo.return %next, %out, %c2, %s2 : tensor<i32>, tensor<4x64xf32>, !c, !s
  }
  return %0#1 : tensor<4x64xf32>
})";

/// Quantization along the last axis, with and without a transpose before it; along the first axis;
/// and with random bits.
std::string quantized(const Format& format) {
  const std::string x = plain({96, 128}), turned = plain({128, 96}), rule = format.rule;
  const std::string q = scaled(format, {96, 128}), p = scaled(format, {128, 96}, false);
  return "func.func @main(%x: " + x + ", %turned: " + turned +
         ", %bits: tensor<96x128xui32>) -> (" + x + ", " + x + ", " + x + ", " + turned +
         ") {\n  %0 = stablehlo.tanh %x : " + x + "\n  %q = octavo.quantize %0, rule = " + rule +
         " : " + x + " -> " + q +
         "\n  %r = octavo.quantize %0 random(%bits : tensor<96x128xui32>), rule = " + rule +
         ", rounding = stochastic : " + x + " -> " + q +
         "\n  %1 = stablehlo.transpose %turned, dims = [1, 0] : (" + turned + ") -> " + x +
         "\n  %s = octavo.quantize %1, rule = " + rule + " : " + x + " -> " + q +
         "\n  %t = octavo.quantize %turned, rule = " + rule + " : " + turned + " -> " + p +
         "\n  %c = octavo.dequantize %q : " + q + " -> " + x +
         "\n  %d = octavo.dequantize %r : " + q + " -> " + x +
         "\n  %e = octavo.dequantize %s : " + q + " -> " + x +
         "\n  %f = octavo.dequantize %t : " + p + " -> " + turned +
         "\n  return %c, %d, %e, %f : " + x + ", " + x + ", " + x + ", " + turned + "\n}";
}

/// Convolutions by lines with a scaled weight, and by patches with a weight made in the run.
constexpr const char* kConvolutions = R"(
!w = !octavo.scaled<3x3x8x32xf8E4M3FN, scale f8E8M0FNU, block [1, 1, 1, 32]>
func.func @main(%x: tensor<2x12x12x8xf32>, %w: !w {octavo.name = "w", octavo.parameter, octavo.quantize = #octavo.quantization<rule = floor>},
                %v: tensor<3x3x4x32xf32>) -> (tensor<2x10x10x32xf32>, tensor<2x5x5x32xf32>) {
  %0 = octavo.dequantize %w : !w -> tensor<3x3x8x32xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x12x12x8xf32>, tensor<3x3x8x32xf32>) -> tensor<2x10x10x32xf32>
  %2 = stablehlo.tanh %v : tensor<3x3x4x32xf32>
  %3 = stablehlo.convolution(%x, %2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x12x12x8xf32>, tensor<3x3x4x32xf32>) -> tensor<2x5x5x32xf32>
  return %1, %3 : tensor<2x10x10x32xf32>, tensor<2x5x5x32xf32>
})";

/// Each of six tokens chooses two experts; weights are f32, or codes and scales.
constexpr const char* kExperts = R"(
!w = !octavo.scaled<5x96x64xf8E4M3FN, scale f8E8M0FNU, block [1, 1, 32]>
!q = !octavo.scaled<12x96x64xf8E4M3FN, scale f8E8M0FNU, block [1, 1, 32]>
func.func @main(%x: tensor<6x64xf32> loc("x"), %chosen: tensor<6x2xi32> loc("chosen"), %up: tensor<5x64x96xf32> loc("up"),
                %gate: !w {octavo.name = "gate", octavo.parameter, octavo.quantize = #octavo.quantization<rule = floor>})
    -> (tensor<6x2x96xf32>, tensor<12x96xf32>) {
  %column = stablehlo.reshape %chosen : (tensor<6x2xi32>) -> tensor<6x2x1xi32>
  %taken = "stablehlo.gather"(%up, %column) {
    dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>,
    slice_sizes = array<i64: 1, 64, 96>} : (tensor<5x64x96xf32>, tensor<6x2x1xi32>) -> tensor<6x2x64x96xf32>
  %y = stablehlo.dot_general %x, %taken, batching_dims = [0] x [0], contracting_dims = [1] x [2]
      : (tensor<6x64xf32>, tensor<6x2x64x96xf32>) -> tensor<6x2x96xf32>
  %line = stablehlo.reshape %chosen : (tensor<6x2xi32>) -> tensor<12x1xi32>
  %codes, %scales = octavo.unpack %gate : (!w) -> (tensor<5x96x64xf8E4M3FN>, tensor<5x96x2xf8E8M0FNU>)
  %e = "stablehlo.gather"(%codes, %line) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 96, 64>} : (tensor<5x96x64xf8E4M3FN>, tensor<12x1xi32>) -> tensor<12x96x64xf8E4M3FN>
  %f = "stablehlo.gather"(%scales, %line) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 96, 2>} : (tensor<5x96x2xf8E8M0FNU>, tensor<12x1xi32>) -> tensor<12x96x2xf8E8M0FNU>
  %w = octavo.pack %e, %f : (tensor<12x96x64xf8E4M3FN>, tensor<12x96x2xf8E8M0FNU>) -> !q
  %twice = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<6x64xf32>) -> tensor<6x2x64xf32>
  %rows = stablehlo.reshape %twice : (tensor<6x2x64xf32>) -> tensor<12x64xf32>
  %z = octavo.dot_general %rows, %w, batching_dims = [0] x [0], contracting_dims = [1] x [2] : (tensor<12x64xf32>, !q) -> tensor<12x96xf32>
  return %y, %z : tensor<6x2x96xf32>, tensor<12x96xf32>
})";

/// Ragged dots with a weight, with one made in the run, and with a quantized one.
constexpr const char* kGroups = R"(
#rows = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>
!w = !octavo.scaled<3x64x96xf8E4M3FN, scale f8E8M0FNU, block [1, 32, 1]>
!x = !octavo.scaled<40x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
!y = tensor<40x96xf32>
func.func @main(%x: tensor<40x64xf32> loc("x"), %w: tensor<3x64x96xf32> loc("w"),
                %q: !w {octavo.name = "q", octavo.parameter, octavo.quantize = #octavo.quantization<rule = floor>}) -> (!y, !y, !y) {
  %sizes = stablehlo.constant dense<[7, 0, 25]> : tensor<3xi32>
  %y = "chlo.ragged_dot"(%x, %w, %sizes) <{ragged_dot_dimension_numbers = #rows}> : (tensor<40x64xf32>, tensor<3x64x96xf32>, tensor<3xi32>) -> !y
  %v = stablehlo.tanh %w : tensor<3x64x96xf32>
  %z = "chlo.ragged_dot"(%x, %v, %sizes) <{ragged_dot_dimension_numbers = #rows}> : (tensor<40x64xf32>, tensor<3x64x96xf32>, tensor<3xi32>) -> !y
  %narrow = octavo.quantize %x, rule = floor : tensor<40x64xf32> -> !x
  %all = octavo.dot_general %narrow, %q, contracting_dims = [1] x [1] : (!x, !w) -> tensor<40x3x96xf32>
  %u = octavo.rows_of_groups %all, %sizes : (tensor<40x3x96xf32>, tensor<3xi32>) -> !y
  return %y, %z, %u : !y, !y, !y
})";

/// A program at batch size `items`, with four rows per sample: products by weights, products of
/// activations, and quantized activations.
std::string ofItems(const Format& format, std::int64_t items) {
  const auto n = static_cast<int>(items);
  const std::string x = plain({n, 4, 128}), y = plain({n, 4, 96}), s = plain({n, 4, 4});
  const std::string w = scaled(format, {96, 128}), rule = format.rule;
  const std::string q = scaled(format, {n, 4, 128});
  std::string text = "func.func @main(%w: " + w +
                     " {octavo.name = \"w\", octavo.parameter, octavo.quantize = "
                     "#octavo.quantization<rule = " +
                     rule + ">}, %x: " + x + ") -> (" + y + ", " + y + ", " + s + R"() {
  %0 = stablehlo.tanh %x : )" +
                     x + "\n  %wide = octavo.dot_general %0, %w, contracting_dims = [2] x [1] : (" +
                     x + ", " + w + ") -> " + y;
  text += "\n  %scores = stablehlo.dot_general %0, %x, batching_dims = [0] x [0], "
          "contracting_dims = [2] x [2] : (" +
          x + ", " + x + ") -> " + s;
  // An outer scale over the whole batch would differ between batch sizes.
  const bool isOfBlocks = std::string(format.rest).empty();
  if (isOfBlocks)
    text += "\n  %q = octavo.quantize %0, rule = " + rule + " : " + x + " -> " + q +
            "\n  %both = octavo.dot_general %q, %w, contracting_dims = [2] x [1] : (" + q + ", " +
            w + ") -> " + y;
  else
    text += "\n  %both = stablehlo.negate %wide : " + y;
  return text + "\n  return %wide, %both, %scores : " + y + ", " + y + ", " + s + "\n}";
}

/// The allocations of an open batch whose size alternates between small and large.
int allocationsOfItems(const Format& format) {
  const auto context = session::makeContext();
  const auto one = parsed(ofItems(format, 1009), *context);
  const auto other = parsed(ofItems(format, 2027), *context);
  const compiler::ProgramOfItems programs[] = {{*one, 1009}, {*other, 2027}};
  const auto executable =
      must(compiler::compileForItems(programs, 1, "main", interpreter::evaluateOperation));
  const auto few = parsed(ofItems(format, 2), *context),
             many = parsed(ofItems(format, 30), *context);
  Operands onFew(mainOf(*few)), onMany(mainOf(*many), &onFew);
  return allocationsInTheEnd(
      [&](int i) { return (i % 2 == 0 ? onFew : onMany).run(*executable.executable); });
}

/// The allocations of a loaded folder whose first argument is bound.
int allocationsOfFolder(const Format& format) {
  const auto context = session::makeContext();
  const auto program = parsed(ofItems(format, 5), *context);
  Operands operands(mainOf(*program));
  const auto executable = compiled(*program);
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("allocations-" + std::string(format.name));
  auto* const savable = dynamic_cast<program::Savable*>(executable.get());
  const auto saved = savable->save(
      folder,
      {.function = "main", .arguments = {"w", "x"}, .results = {"a", "b", "c"}, .donations = {}},
      std::array{std::optional(operands.held[0]), std::optional<Value>()});
  EXPECT_TRUE(saved.has_value()) << saved.error();
  auto loaded = program::LoadedProgram::load(folder);
  EXPECT_TRUE(loaded.has_value()) << loaded.error();
  const int found = allocationsInTheEnd([&](int) { return operands.run(**loaded, 1); });
  std::filesystem::remove_all(folder);
  return found;
}

TEST(Allocations, areCounted) {
  isCounting = true;
  allocations = 0;
  ::operator delete(::operator new(100)); // which the compiler does not optimize away
  isCounting = false;
  EXPECT_EQ(allocations, 1);
}
TEST(Allocations, ofALayerInF32) { EXPECT_EQ(allocationsOf(kLayer), 0); }
TEST(Allocations, ofMatricesAndTransforms) { EXPECT_EQ(allocationsOf(kMatrices), 0); }
TEST(Allocations, ofProductsOfWhatIsMadeInALoop) { EXPECT_EQ(allocationsOf(training()), 0); }
TEST(Allocations, ofALoopOverACacheOfCodes) { EXPECT_EQ(allocationsOf(kDecoding), 0); }
TEST(Allocations, ofScaledProducts) {
  for (const Format& format : kFormats)
    EXPECT_EQ(allocationsOf(scaledProducts(format)), 0) << format.name;
}
TEST(Allocations, ofQuantizing) {
  for (const Format& format : kFormats)
    EXPECT_EQ(allocationsOf(quantized(format)), 0) << format.name;
}
TEST(Allocations, ofAnyNumberOfItems) {
  for (const Format& format : kFormats)
    EXPECT_EQ(allocationsOfItems(format), 0) << format.name;
}
TEST(Allocations, ofFolders) {
  for (const Format& format : kFormats)
    EXPECT_EQ(allocationsOfFolder(format), 0) << format.name;
}
TEST(Allocations, ofSeveralThreadsAtOnce) {
  for (const Format& format : kFormats)
    EXPECT_EQ(allocationsAtOnce(scaledProducts(format)), 0) << format.name;
  EXPECT_EQ(allocationsAtOnce(kDecoding), 0);
}
TEST(Allocations, ofConvolutions) { EXPECT_EQ(allocationsOf(kConvolutions), 0); }
TEST(Allocations, ofExperts) { EXPECT_EQ(allocationsOf(kExperts), 0); }
TEST(Allocations, ofGroupsOfRows) { EXPECT_EQ(allocationsOf(kGroups), 0); }
TEST(Allocations, ofSorts) { EXPECT_EQ(allocationsOf(kSorts), 0); }

} // namespace
} // namespace octavo::session
