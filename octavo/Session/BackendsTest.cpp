// Tests of all backends through Executable: lookup, runs and errors.
#include "octavo/Session/Backends.h"

#include "octavo/Session/Binding/Program.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace octavo::session {
namespace {

using numerics::Tensor;
using program::CheckReport;
using program::Value;

Tensor scalar(float value) {
  Tensor tensor = Tensor::zeros(format::element("f32"), {});
  tensor.as<float>()[0] = value;
  return tensor;
}

class Backends : public testing::TestWithParam<const Backend*> {
protected:
  std::unique_ptr<program::Executable> prepared(llvm::StringRef text) {
    program = mlir::parseSourceString<mlir::ModuleOp>(text, context.get(), "program.mlir");
    EXPECT_TRUE(program);
    auto executable = GetParam()->prepare(*program, "main");
    EXPECT_TRUE(static_cast<bool>(executable)) << llvm::toString(executable.takeError());
    return std::move(*executable);
  }

  std::unique_ptr<mlir::MLIRContext> context = session::makeContext();
  mlir::OwningOpRef<mlir::ModuleOp> program;
};

TEST_P(Backends, isFoundByItsName) {
  EXPECT_EQ(find(GetParam()->name), GetParam());
  EXPECT_EQ(find("no such backend"), nullptr);
}

TEST_P(Backends, runsAFunctionAnyNumberOfTimes) {
  const auto executable = prepared(R"(
    func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
      %z = stablehlo.subtract %x, %y : tensor<f32>
      return %z, %x : tensor<f32>, tensor<f32>
    })");
  const Value five(scalar(5));
  for (const float y : {1.0f, 7.0f}) {
    auto results = executable->run({five, Value(scalar(y))}, nullptr);
    ASSERT_TRUE(results) << results.error();
    ASSERT_EQ(results->size(), 2u);
    EXPECT_EQ((*results)[0].tensor(), scalar(5 - y));
    EXPECT_EQ((*results)[1].tensor(), scalar(5));
  }
}

TEST_P(Backends, writesResultsWhereTheCallerWantsThem) {
  const auto executable = prepared(R"(
    func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %z = stablehlo.add %x, %x : tensor<2xf32>
      return %z, %x : tensor<2xf32>, tensor<2xf32>
    })");
  float given[] = {1, -3}, sums[2], same[2];
  const Tensor lent{format::element("f32"),
                    {2},
                    numerics::Bytes::lent(std::as_writable_bytes(std::span(given)), nullptr)};
  const std::span<std::byte> memory[] = {std::as_writable_bytes(std::span(sums)),
                                         std::as_writable_bytes(std::span(same))};
  for (int run = 0; run < 2; ++run) {
    auto results = executable->run({Value(lent)}, nullptr, memory);
    ASSERT_TRUE(results) << results.error();
    EXPECT_EQ((*results)[0].tensor().bytes.data(), memory[0].data());
    EXPECT_EQ(sums[0], 2);
    EXPECT_EQ(sums[1], -6);
    EXPECT_EQ(same[1], -3);
    EXPECT_EQ(given[0], 1);
  }
}

TEST(Compiled, updatesDonatedArgumentsWhereTheyLie) {
  const auto context = session::makeContext();
  const auto program = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @main(%x: tensor<3xf32> {tf.aliasing_output = 1 : i32}, %at: tensor<i32>,
                    %y: tensor<1xf32>, %z: tensor<3xf32> {jax.buffer_donor = true})
        -> (tensor<1xf32>, tensor<3xf32>, tensor<3xf32>) {
      %new = stablehlo.dynamic_update_slice %x, %y, %at
          : (tensor<3xf32>, tensor<1xf32>, tensor<i32>) -> tensor<3xf32>
      %same = stablehlo.dynamic_update_slice %z, %y, %at
          : (tensor<3xf32>, tensor<1xf32>, tensor<i32>) -> tensor<3xf32>
      %read = stablehlo.slice %z [0:1] : (tensor<3xf32>) -> tensor<1xf32>
      return %read, %new, %same : tensor<1xf32>, tensor<3xf32>, tensor<3xf32>
    })",
                                                               context.get());
  auto executable = find("compiled")->prepare(*program, "main");
  ASSERT_TRUE(static_cast<bool>(executable)) << llvm::toString(executable.takeError());
  const auto vector = [](std::vector<float> values) {
    Tensor tensor =
        Tensor::zeros(format::element("f32"), {static_cast<std::int64_t>(values.size())});
    std::ranges::copy(values, tensor.as<float>().begin());
    return tensor;
  };
  Tensor at = Tensor::zeros(numerics::IntegerType{32, false}, {});
  at.setCode(0, 2);
  Tensor given = vector({1, 2, 3});
  const std::byte* memory = given.bytes.data();
  const Value shared(vector({1, 2, 3}));
  const auto run = [&](Value first) {
    std::vector<Value> values;
    values.push_back(std::move(first));
    values.insert(values.end(), {Value(at), Value(vector({9})), Value(vector({4, 5, 6}))});
    auto results = (*executable)->run(std::move(values), nullptr);
    EXPECT_TRUE(results) << results.error();
    EXPECT_EQ((*results)[0].tensor(), vector({4}));
    EXPECT_EQ((*results)[1].tensor(), vector({1, 2, 9}));
    EXPECT_EQ((*results)[2].tensor(), vector({4, 5, 9}));
    return (*results)[1].tensor().bytes.data();
  };
  EXPECT_EQ(run(Value(std::move(given))), memory);
  EXPECT_NE(run(shared), shared.tensor().bytes.data());
  EXPECT_EQ(shared.tensor(), vector({1, 2, 3}));
}

TEST_P(Backends, reportsChecks) {
  const auto executable = prepared(R"(
    func.func @main(%x: tensor<f32>) {
      check.expect_eq_const %x, dense<1.0> : tensor<f32>
      return
    })");
  CheckReport report;
  for (const float x : {1.0f, 2.0f})
    EXPECT_TRUE(static_cast<bool>(executable->run({Value(scalar(x))}, &report)));
  EXPECT_EQ(report.held, 1);
  EXPECT_EQ(report.failures.size(), 1u);
  auto results = executable->run({Value(scalar(2))}, nullptr);
  ASSERT_FALSE(static_cast<bool>(results));
  EXPECT_NE(results.error().find("check.expect_eq_const"), std::string::npos);
}

TEST_P(Backends, namesAnArgumentThatDoesNotFit) {
  const auto executable = prepared("func.func @main(%x: tensor<2xf32>) { return }");
  auto results = executable->run({Value(scalar(1))}, nullptr);
  ASSERT_FALSE(static_cast<bool>(results));
  EXPECT_NE(results.error().find("argument 0"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, Backends, testing::ValuesIn(all().begin(), all().end()),
                         [](const auto& each) { return std::string(each.param->name); });

} // namespace
} // namespace octavo::session
