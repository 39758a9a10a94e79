// Tests of donated arguments: which results reuse their memory, and that results equal those of the
// interpreter, which ignores donations, whatever else reads the arguments.
#include "octavo/Session/Backends.h"
#include "octavo/Session/Binding/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <fmt/format.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace octavo::session {
namespace {

using numerics::Tensor;
using program::Value;

struct Donating {
  const char* name;
  const char* body;
  /// Results that lie in the memory of the argument donated to them.
  std::set<std::size_t> inPlace;
  /// `tf.aliasing_output` of each argument; -1: none; -2: jax.buffer_donor.
  std::vector<int> donated = {0, -1};
};

/// Functions of two f32 [24, 24] arguments (%p, %g), some with a third (%m).
const Donating kPrograms[] = {
    {"step",
     R"(
      %0 = stablehlo.multiply %g, %g : tensor<24x24xf32>
      %1 = stablehlo.subtract %p, %0 : tensor<24x24xf32>
      return %1)",
     {0}},
    {"readAfterwards",
     R"(
      %0 = stablehlo.add %p, %g : tensor<24x24xf32>
      %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<24x24xf32>) -> tensor<24x24xf32>
      %2 = stablehlo.dot_general %1, %p, contracting_dims = [1] x [0] : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
      return %0, %2)",
     {}},
    {"readBefore",
     R"(
      %0 = stablehlo.dot_general %g, %p, contracting_dims = [1] x [0] : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
      %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<24x24xf32>) -> tensor<24x24xf32>
      %2 = stablehlo.dot_general %1, %g, contracting_dims = [1] x [0] : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
      %3 = stablehlo.subtract %p, %2 : tensor<24x24xf32>
      return %3)",
     {0}},
    {"notReadAtTheSameTime",
     R"(
      %0 = stablehlo.dot_general %p, %g, contracting_dims = [1] x [0] : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
      %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<24x24xf32>) -> tensor<24x24xf32>
      %2 = stablehlo.dot_general %1, %g, contracting_dims = [1] x [0] : (tensor<24x24xf32>, tensor<24x24xf32>) -> tensor<24x24xf32>
      return %2)",
     {0}},
    {"transposed",
     R"(
      %0 = stablehlo.transpose %p, dims = [1, 0] : (tensor<24x24xf32>) -> tensor<24x24xf32>
      %1 = stablehlo.add %p, %0 : tensor<24x24xf32>
      return %1)",
     {}},
    {"reversed",
     R"(
      %0 = stablehlo.reverse %p, dims = [1] : tensor<24x24xf32>
      %1 = stablehlo.add %p, %0 : tensor<24x24xf32>
      return %1)",
     {}},
    {"shifted",
     R"(
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.slice %p [0:24, 1:24] : (tensor<24x24xf32>) -> tensor<24x23xf32>
      %1 = stablehlo.pad %0, %zero, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<24x23xf32>, tensor<f32>) -> tensor<24x24xf32>
      %2 = stablehlo.add %p, %1 : tensor<24x24xf32>
      return %2)",
     {}},
    {"shiftedBack",
     R"(
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.slice %p [0:24, 0:23] : (tensor<24x24xf32>) -> tensor<24x23xf32>
      %1 = stablehlo.pad %0, %zero, low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<24x23xf32>, tensor<f32>) -> tensor<24x24xf32>
      %2 = stablehlo.add %p, %1 : tensor<24x24xf32>
      return %2)",
     {}},
    {"ofOneRow",
     R"(
      %0 = stablehlo.slice %p [23:24, 0:24] : (tensor<24x24xf32>) -> tensor<1x24xf32>
      %1 = stablehlo.reshape %0 : (tensor<1x24xf32>) -> tensor<24xf32>
      %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<24xf32>) -> tensor<24x24xf32>
      %3 = stablehlo.add %p, %2 : tensor<24x24xf32>
      return %3)",
     {}},
    {"ofItsRowsSum",
     R"(
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%p init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<24x24xf32>, tensor<f32>) -> tensor<24xf32>
      %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<24xf32>) -> tensor<24x24xf32>
      %2 = stablehlo.subtract %p, %1 : tensor<24x24xf32>
      return %2)",
     {0}},
    {"ofItsColumnsSum",
     R"(
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.reduce(%p init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<24x24xf32>, tensor<f32>) -> tensor<24xf32>
      %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<24xf32>) -> tensor<24x24xf32>
      %2 = stablehlo.subtract %p, %1 : tensor<24x24xf32>
      return %2)",
     {0}},
    // The difference is written first and %p is read again for the second result.
    {"readAfterASumOfWhatIsWritten",
     R"(
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.subtract %p, %g : tensor<24x24xf32>
      %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<24x24xf32>, tensor<f32>) -> tensor<24xf32>
      %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<24xf32>) -> tensor<24x24xf32>
      %3 = stablehlo.multiply %p, %2 : tensor<24x24xf32>
      return %0, %3)",
     {}},
    // The first result is written before the second, which reads %p too, is computed.
    {"readForTheNextResult",
     R"(
      %0 = stablehlo.add %p, %g : tensor<24x24xf32>
      %1 = stablehlo.multiply %p, %g : tensor<24x24xf32>
      return %0, %1)",
     {},
     {-2, -1}},
    {"momentum",
     R"(
      %0 = stablehlo.multiply %m, %m : tensor<24x24xf32>
      %1 = stablehlo.add %0, %g : tensor<24x24xf32>
      %2 = stablehlo.subtract %p, %1 : tensor<24x24xf32>
      return %2, %1)",
     {0, 1},
     {0, -1, 1}},
    // %m is read before the second result is written.
    {"crossed",
     R"(
      %0 = stablehlo.add %m, %g : tensor<24x24xf32>
      %1 = stablehlo.subtract %p, %g : tensor<24x24xf32>
      return %0, %1)",
     {1},
     {0, -1, 1}},
    {"returnedToo",
     R"(
      %0 = stablehlo.add %p, %g : tensor<24x24xf32>
      return %0, %p)",
     {}},
    {"updatedInALoop",
     R"(
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %0:2 = stablehlo.while(%i = %zero, %x = %p) : tensor<i32>, tensor<24x24xf32>
       cond {
        %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      } do {
        %1 = stablehlo.add %i, %one : tensor<i32>
        %2 = "stablehlo.dynamic_slice"(%g, %i, %zero) {slice_sizes = array<i64: 1, 24>} : (tensor<24x24xf32>, tensor<i32>, tensor<i32>) -> tensor<1x24xf32>
        %3 = stablehlo.dynamic_update_slice %x, %2, %1, %zero : (tensor<24x24xf32>, tensor<1x24xf32>, tensor<i32>, tensor<i32>) -> tensor<24x24xf32>
        stablehlo.return %1, %3 : tensor<i32>, tensor<24x24xf32>
      }
      return %0#1)",
     {0}},
    // The loop reads the updated value at another index before it updates it again.
    {"readAndUpdatedInALoop",
     R"(
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %0:2 = stablehlo.while(%i = %zero, %x = %p) : tensor<i32>, tensor<24x24xf32>
       cond {
        %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      } do {
        %1 = stablehlo.add %i, %one : tensor<i32>
        %2 = "stablehlo.dynamic_slice"(%x, %i, %zero) {slice_sizes = array<i64: 2, 24>} : (tensor<24x24xf32>, tensor<i32>, tensor<i32>) -> tensor<2x24xf32>
        %3 = stablehlo.dynamic_update_slice %x, %2, %1, %zero : (tensor<24x24xf32>, tensor<2x24xf32>, tensor<i32>, tensor<i32>) -> tensor<24x24xf32>
        stablehlo.return %1, %3 : tensor<i32>, tensor<24x24xf32>
      }
      return %0#1)",
     {0}},
    // The loop works on a copy.
    {"inALoop",
     R"(
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %0:2 = stablehlo.while(%i = %zero, %x = %p) : tensor<i32>, tensor<24x24xf32>
       cond {
        %1 = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      } do {
        %1 = stablehlo.add %i, %one : tensor<i32>
        %2 = stablehlo.subtract %x, %g : tensor<24x24xf32>
        stablehlo.return %1, %2 : tensor<i32>, tensor<24x24xf32>
      }
      return %0#1)",
     {0}},
};

Tensor drawn(std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> number(-8, 8); // sums and products of them are exact
  Tensor tensor = Tensor::zeros(format::element("f32"), {24, 24});
  for (float& value : tensor.as<float>())
    value = static_cast<float>(number(random));
  return tensor;
}

class Donation : public testing::TestWithParam<Donating> {
protected:
  Donation() {
    const std::string type = "tensor<24x24xf32>";
    std::string arguments, body = GetParam().body;
    const char* names[] = {"%p", "%g", "%m"};
    for (std::size_t i = 0; i < count(); ++i) {
      const int to = GetParam().donated[i];
      arguments += fmt::format("{}{}: {}{}", i == 0 ? "" : ", ", names[i], type,
                               to == -1   ? std::string()
                               : to == -2 ? " {jax.buffer_donor = true}"
                                          : fmt::format(" {{tf.aliasing_output = {} : i32}}", to));
    }
    const auto returned = std::ranges::count(body.substr(body.rfind("return")), '%');
    std::string types = type;
    for (std::ptrdiff_t i = 1; i < returned; ++i)
      types += ", " + type;
    program = mlir::parseSourceString<mlir::ModuleOp>(
        fmt::format("func.func @main({}) -> ({}) {{ {} : {} }}", arguments, types, body, types),
        context.get());
    for (const char* backend : {"reference", "compiled"}) {
      auto made = find(backend)->prepare(*program, "main");
      EXPECT_TRUE(static_cast<bool>(made)) << llvm::toString(made.takeError());
      (backend == std::string("compiled") ? compiled : reference) = std::move(*made);
    }
    for (std::size_t i = 0; i < count(); ++i)
      given.push_back(drawn(static_cast<std::uint32_t>(i)));
    wanted = results(*reference, values());
  }

  static std::size_t count() { return GetParam().donated.size(); }
  std::vector<Value> values() const { return {given.begin(), given.end()}; }

  static std::vector<Value> results(program::Executable& executable, std::vector<Value> values,
                                    program::ResultMemory memory = {}) {
    auto found = executable.run(std::move(values), nullptr, memory);
    EXPECT_TRUE(found) << found.error();
    return std::move(*found);
  }

  /// The argument that is donated to a result; -1: none.
  int donorOf(std::size_t result) const {
    for (std::size_t i = 0; i < count(); ++i)
      if (GetParam().donated[i] == static_cast<int>(result) ||
          (GetParam().donated[i] == -2 && result == 0))
        return static_cast<int>(i);
    return -1;
  }

  void expectWanted(const std::vector<Value>& found) const {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(found[i].tensor(), wanted[i].tensor()) << "result " << i;
  }

  std::unique_ptr<mlir::MLIRContext> context = session::makeContext();
  mlir::OwningOpRef<mlir::ModuleOp> program;
  std::unique_ptr<program::Executable> reference, compiled;
  std::vector<Tensor> given;
  std::vector<Value> wanted;
};

TEST_P(Donation, ofWhatTheRunAloneHolds) {
  for (int run = 0; run < 2; ++run) {
    std::vector<Value> own = values();
    std::vector<const std::byte*> memory;
    for (const Value& value : own)
      memory.push_back(value.tensor().bytes.data());
    const std::vector<Value> found = results(*compiled, std::move(own));
    expectWanted(found);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (const int donor = donorOf(i); donor >= 0)
        EXPECT_EQ(found[i].tensor().bytes.data() == memory[static_cast<std::size_t>(donor)],
                  GetParam().inPlace.contains(i))
            << "result " << i;
  }
}

TEST_P(Donation, ofWhatOthersHoldTakesNothing) {
  const std::vector<Value> shared = values();
  for (int run = 0; run < 2; ++run) {
    expectWanted(results(*compiled, shared));
    for (std::size_t i = 0; i < count(); ++i)
      EXPECT_EQ(shared[i].tensor(), given[i]);
  }
}

TEST_P(Donation, ofOneOfThem) {
  for (std::size_t own = 0; own < count(); ++own) {
    const std::vector<Value> shared = values();
    std::vector<Value> taken = shared;
    taken[own] = Value(given[own]);
    expectWanted(results(*compiled, std::move(taken)));
    for (std::size_t i = 0; i < count(); ++i)
      EXPECT_EQ(shared[i].tensor(), given[i]);
  }
}

TEST_P(Donation, toMemoryOfAnyArgument) {
  // All ways to place each result in an argument's memory or its own, at most one result per
  // argument.
  const auto places = static_cast<int>(count()) + 1;
  const auto all = static_cast<int>(std::pow(places, static_cast<double>(wanted.size())));
  for (int chosen = 0; chosen < all; ++chosen) {
    std::vector<Tensor> memory = given;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      memory.push_back(drawn(99));
    std::vector<Value> lent;
    for (std::size_t i = 0; i < count(); ++i)
      lent.emplace_back(
          Tensor{memory[i].type, memory[i].shape, numerics::Bytes::lent(memory[i].bytes, nullptr)});
    std::vector<std::span<std::byte>> out;
    std::set<std::size_t> used;
    for (std::size_t i = 0, rest = static_cast<std::size_t>(chosen); i < wanted.size();
         ++i, rest /= static_cast<std::size_t>(places)) {
      std::size_t place = rest % static_cast<std::size_t>(places);
      if (place == count() || !used.insert(place).second)
        place = count() + i;
      out.emplace_back(memory[place].bytes);
    }
    expectWanted(results(*compiled, std::move(lent), out));
    for (std::size_t i = 0; i < count(); ++i)
      if (!used.contains(i))
        EXPECT_EQ(memory[i], given[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Donation, testing::ValuesIn(kPrograms),
                         [](const auto& each) { return std::string(each.param.name); });

} // namespace
} // namespace octavo::session
