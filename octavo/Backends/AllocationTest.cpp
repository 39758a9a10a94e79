// A compiled program of products, kernels, updates, sorts and loops that has run before, on memory
// of the caller's, allocates nothing: every call of malloc and its like in the process is counted
// while it runs. Products of scaled weights do still, some twenty times each, for what they plan
// by. The sanitizers have an allocator of their own, so that they do not build this.
#include "octavo/Backends/Backends.h"
#include "octavo/Runtime/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <random>

namespace {
std::atomic<bool> isCounting = false;
std::atomic<int> allocations = 0;

void count() {
  if (isCounting.load(std::memory_order_relaxed))
    allocations.fetch_add(1, std::memory_order_relaxed);
}
} // namespace

// The C library's own, under the names by which it lets itself be wrapped.
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

namespace octavo::backends {
namespace {

using execution::Value;
using numerics::Tensor;

/// A layer of an encoder: two rows of 64 tokens, embedded, attention of 4 heads, a layer norm, two
/// products with GELU between them, and a cache that is updated.
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

/// Each step that needs memory of its own.
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

/// The right side of its products is made at run time, as a training step's are; and it loops, and
/// has a kernel of more than 32 arguments.
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

/// Sorts by keys: of short lines, and of long ones along the first axis, digit by digit; and by a
/// comparator of two tensors, which is no order of keys.
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

Tensor drawn(const runtime::Argument& argument, std::mt19937& random) {
  Tensor tensor = Tensor::zeros(std::get<numerics::ElementType>(argument.type), argument.shape);
  std::uniform_real_distribution<float> number(-1, 1);
  if (tensor.type.isFloat())
    for (float& value : tensor.as<float>())
      value = number(random);
  return tensor;
}

/// The most allocations of a run, once it has run often.
int allocationsOf(const std::string& text) {
  const auto context = runtime::makeContext();
  auto program = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  EXPECT_TRUE(program);
  auto made = find("compiled")->prepare(*program, "main");
  EXPECT_TRUE(static_cast<bool>(made)) << llvm::toString(made.takeError());
  EXPECT_EQ((*made)->explain().interpretedWhole, "");
  EXPECT_TRUE((*made)->explain().interpreted.empty());
  auto function = program->lookupSymbol<mlir::func::FuncOp>("main");
  const auto arguments = runtime::argumentsOf(function);
  std::vector<Value> values;
  std::mt19937 random(1);
  for (const runtime::Argument& argument : *arguments)
    values.emplace_back(drawn(argument, random));
  const std::vector<Value> held = values; // as a program that is called holds its weights
  std::vector<std::vector<std::byte>> results;
  std::vector<std::span<std::byte>> memory;
  for (const mlir::Type type : function.getResultTypes())
    memory.emplace_back(results.emplace_back(
        static_cast<std::size_t>(mlir::cast<mlir::RankedTensorType>(type).getNumElements()) * 4));
  const execution::Host host;
  const auto run = [&] {
    std::ranges::copy(held, values.begin());
    allocations = 0;
    isCounting = true;
    llvm::Error error = (*made)->runInto(values, host, memory);
    isCounting = false;
    EXPECT_EQ(llvm::toString(std::move(error)), "");
    return allocations.load();
  };
  // Until every thread has taken part in every loop.
  constexpr int kWarmUp = 300, kRuns = 100;
  for (int i = 0; i < kWarmUp; ++i)
    run();
  int most = 0;
  for (int i = 0; i < kRuns; ++i)
    most = std::max(most, run());
  return most;
}

TEST(Allocations, areCounted) {
  isCounting = true;
  allocations = 0;
  ::operator delete(::operator new(100)); // which the compiler leaves in
  isCounting = false;
  EXPECT_EQ(allocations, 1);
}
TEST(Allocations, ofALayerInF32) { EXPECT_EQ(allocationsOf(kLayer), 0); }
TEST(Allocations, ofMatricesAndTransforms) { EXPECT_EQ(allocationsOf(kMatrices), 0); }
TEST(Allocations, ofProductsOfWhatIsMadeInALoop) { EXPECT_EQ(allocationsOf(training()), 0); }
TEST(Allocations, ofSorts) { EXPECT_EQ(allocationsOf(kSorts), 0); }

} // namespace
} // namespace octavo::backends
