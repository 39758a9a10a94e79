// Tests the interface of the interpreter: what evaluate returns, reports and refuses. The results
// of operations are tested in test/Reference.
#include "octavo/Interpreter/Interpreter.h"

#include "octavo/Dialect/Register.h"
#include "octavo/Interpreter/Tensor/Elements.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <set>

namespace octavo::interpreter {
namespace {

using format::element;

class Interpreter : public testing::Test {
protected:
  Interpreter() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  void load(llvm::StringRef text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context, "program.mlir");
    ASSERT_TRUE(module);
  }

  /// The results. Empty if evaluation fails; then `error` is set.
  std::vector<Value> run(llvm::StringRef function, std::vector<Value> arguments = {}) {
    error.clear();
    auto results = evaluate(*module, function, std::move(arguments), &report);
    if (results)
      return std::move(*results);
    error = llvm::toString(results.takeError());
    return {};
  }

  void expectError(std::initializer_list<llvm::StringRef> parts) {
    for (llvm::StringRef part : parts)
      EXPECT_NE(error.find(part), std::string::npos) << "'" << part.str() << "' in: " << error;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  CheckReport report;
  std::string error;
};

Tensor floats(std::vector<double> values) {
  return encodeElements(element("f32"), {static_cast<std::int64_t>(values.size())}, values);
}

TEST_F(Interpreter, TakesArgumentsAndGivesResults) {
  load(R"(func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %z = stablehlo.subtract %x, %y : tensor<2xf32>
    return %z, %x : tensor<2xf32>, tensor<2xf32>
  })");
  const std::vector<Value> results = run("main", {floats({5, 7}), floats({1, 10})});
  ASSERT_EQ(results.size(), 2u) << error;
  EXPECT_EQ(results[0].tensor(), floats({4, -3}));
  EXPECT_EQ(results[1].tensor(), floats({5, 7}));
}

TEST_F(Interpreter, ReportsChecksThatFail) {
  load(R"(func.func @checks() {
    %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    check.expect_eq_const %x, dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    check.expect_eq_const %x, dense<[[1.0, 2.0], [3.5, 4.5]]> : tensor<2x2xf32>
    check.expect_almost_eq_const %x, dense<[[1.0, 2.0], [3.0, 4.00001]]> : tensor<2x2xf32>
    return
  })");
  run("checks");
  EXPECT_EQ(error, "");
  EXPECT_EQ(report.held, 2);
  ASSERT_EQ(report.failures.size(), 1u);
  const CheckFailure& failure = report.failures[0];
  EXPECT_EQ(failure.function, "checks");
  EXPECT_EQ(failure.operation, "check.expect_eq_const");
  EXPECT_EQ(failure.location, "program.mlir:4:5");
  EXPECT_EQ(failure.index, (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(failure.expected, "3.5 (0x40600000)");
  EXPECT_EQ(failure.found, "3 (0x40400000)");
  EXPECT_EQ(failure.count, 2);
  EXPECT_EQ(failure.message(),
            "program.mlir:4:5: check.expect_eq_const in @checks at [1, 0]: "
            "expected 3.5 (0x40600000), found 3 (0x40400000) (2 elements differ)");
}

TEST_F(Interpreter, ChecksByDistance) {
  load(R"(func.func @checks() {
    %x = stablehlo.constant dense<[0x3F800000, 0x80000000, 0x7FC00000]> : tensor<3xf32>
    %y = stablehlo.constant dense<[0x3F800002, 0x00000000, 0x7FC00001]> : tensor<3xf32>
    check.expect_close %x, %y, max_ulp_difference = 2 : tensor<3xf32>, tensor<3xf32>
    check.expect_close %x, %y, max_ulp_difference = 1 : tensor<3xf32>, tensor<3xf32>
    check.expect_close %x, %y, max_ulp_difference = 9, min_ulp_difference = 3 : tensor<3xf32>, tensor<3xf32>
    check.expect_almost_eq %x, %y, tolerance = 1.0e-9 : tensor<3xf32>
    return
  })");
  run("checks");
  EXPECT_EQ(error, "");
  EXPECT_EQ(report.held, 1);
  EXPECT_EQ(report.failures.size(), 3u);
  for (const CheckFailure& failure : report.failures)
    EXPECT_EQ(failure.index, std::vector<std::int64_t>{0}) << failure.message();
}

TEST_F(Interpreter, FailedCheckWithoutReportIsAnError) {
  load(R"(func.func @checks() {
    %x = stablehlo.constant dense<1> : tensor<i32>
    check.expect_eq_const %x, dense<2> : tensor<i32>
    return
  })");
  auto results = evaluate(*module, "checks", {});
  ASSERT_FALSE(static_cast<bool>(results));
  EXPECT_NE(llvm::toString(results.takeError()).find("expected 2, found 1"), std::string::npos);
}

TEST_F(Interpreter, NamesTheFunctionsThereAre) {
  load("func.func @main() { return }\nfunc.func private @external() -> tensor<f32>");
  run("mian");
  expectError({"no function 'mian'", "main"});
  run("external");
  expectError({"'external'", "no body"});
}

TEST_F(Interpreter, RefusesArgumentsThatDoNotFit) {
  load("func.func @main(%x: tensor<2xf32>) { return }");
  run("main");
  expectError({"takes 1 arguments; 0 were given"});
  run("main", {floats({1, 2, 3})});
  expectError({"argument 0", "expected tensor<2xf32>, found tensor<3xf32>"});
  run("main", {Tensor::zeros(element("f16"), {2})});
  expectError({"found tensor<2xf16>"});
  run("main", {Value::tuple({floats({1})})});
  expectError({"found tuple<tensor<1xf32>>"});
}

TEST_F(Interpreter, RecursionEndsInAnError) {
  load(R"(func.func @main(%x: tensor<f32>) -> tensor<f32> {
    %y = call @main(%x) : (tensor<f32>) -> tensor<f32>
    return %y : tensor<f32>
  })");
  run("main", {Tensor::zeros(element("f32"), {})});
  expectError({"program.mlir:1:1", "func.func", "recursive"});
}

TEST_F(Interpreter, NamesTheCustomCallItDoesNotKnow) {
  load(R"(func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %y = stablehlo.custom_call @fancy(%x) : (tensor<2xf32>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  })");
  run("main", {floats({1, 2})});
  expectError({"program.mlir:2:10", "stablehlo.custom_call", "'fancy', called on (tensor<2xf32>)",
               "it knows AllocateBuffer, ApproxTopK, Eigh, "});
}

TEST_F(Interpreter, RefusesCustomCallsThatDoNotFit) {
  load(R"(func.func @quantize(%x: tensor<1x5xf32>) -> tensor<1x5xf8E4M3FN> {
    %q, %s = stablehlo.custom_call @__op$quantize(%x) : (tensor<1x5xf32>) -> (tensor<1x5xf8E4M3FN>, tensor<1x2xf8E8M0FNU>)
    return %q : tensor<1x5xf8E4M3FN>
  }
  func.func @dequantize(%x: tensor<1x5xf32>) -> tensor<1x5xf32> {
    %s = stablehlo.constant dense<1.0> : tensor<1x2xf32>
    %y = stablehlo.custom_call @__op$dequantize(%x, %s) : (tensor<1x5xf32>, tensor<1x2xf32>) -> tensor<1x5xf32>
    return %y : tensor<1x5xf32>
  }
  func.func @integers(%x: tensor<1x5xf32>) -> tensor<1x5xf32> {
    %s = stablehlo.constant dense<1> : tensor<1x5xi32>
    %y = stablehlo.custom_call @__op$dequantize(%x, %s) : (tensor<1x5xf32>, tensor<1x5xi32>) -> tensor<1x5xf32>
    return %y : tensor<1x5xf32>
  })");
  const Tensor x = Tensor::zeros(element("f32"), {1, 5});
  run("quantize", {x});
  expectError({"divide the last axis"});
  run("dequantize", {x});
  expectError({"divide that of the elements", "block_size"});
  run("integers", {x});
  expectError({"operand 1 must be a tensor of floats", "tensor<1x5xi32>"});
}

TEST_F(Interpreter, QuantizeNamesTheValueItRefuses) {
  load(
      R"(func.func @main(%x: tensor<2x4xf32>) -> !octavo.scaled<2x4xf8E4M3FN, scale f8E8M0FNU, block [1, 4]> {
    %y = octavo.quantize %x, rule = floor : tensor<2x4xf32> -> !octavo.scaled<2x4xf8E4M3FN, scale f8E8M0FNU, block [1, 4]>
    return %y : !octavo.scaled<2x4xf8E4M3FN, scale f8E8M0FNU, block [1, 4]>
  })");
  Tensor x = Tensor::zeros(element("f32"), {2, 4});
  x.as<float>()[6] = -INFINITY;
  run("main", {x});
  expectError({"program.mlir:2:10", "octavo.quantize", "-Inf at [1, 2]", "non_finite"});
  x.as<float>()[1] = NAN;
  run("main", {x});
  expectError({"NaN at [0, 1]"});
  x.as<float>()[6] = x.as<float>()[1] = 1;
  EXPECT_EQ(run("main", {x}).size(), 1u);
}

TEST_F(Interpreter, RefusesTensorsThatNoMemoryHolds) {
  load(R"(func.func @main() -> tensor<8589934592xf32> {
    %y = stablehlo.iota dim = 0 : tensor<8589934592xf32>
    return %y : tensor<8589934592xf32>
  })");
  run("main");
  expectError({"program.mlir:2:10", "more elements"});
}

TEST_F(Interpreter, ReadsComplexAndQuantizedConstants) {
  load(
      R"(func.func @main() -> (tensor<2xcomplex<f32>>, tensor<2xcomplex<f64>>, tensor<2x!quant.uniform<i8:f32, 0.5:3>>) {
    %a = stablehlo.constant dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f32>>
    %b = stablehlo.constant dense<(0.5, 8.0)> : tensor<2xcomplex<f64>>
    %c = stablehlo.constant() <{value = dense<[7, -1]> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
    check.expect_eq_const %b, dense<[(0.5, 8.0), (0.5, 9.0)]> : tensor<2xcomplex<f64>>
    return %a, %b, %c : tensor<2xcomplex<f32>>, tensor<2xcomplex<f64>>, tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  })");
  const std::vector<Value> results = run("main");
  ASSERT_EQ(results.size(), 3u) << error;
  using Complex = std::complex<double>;
  EXPECT_EQ(decodeComplex(results[0].tensor()), (std::vector<Complex>{{1, 2}, {3, -4}}));
  EXPECT_EQ(decodeComplex(results[1].tensor()), (std::vector<Complex>{{0.5, 8}, {0.5, 8}}));
  EXPECT_EQ(results[2].tensor().type.name(), "!quant.uniform<i8:f32, 0.5:3>");
  EXPECT_EQ(results[2].tensor().code(0), 7u);
  EXPECT_EQ(results[2].tensor().code(1), 0xFFu);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].expected, "(0.5 (0x3FE0000000000000), 9 (0x4022000000000000))");
}

// The same program runs on two extents: shapes come from the operands, not from the types.
TEST_F(Interpreter, TakesShapesFromTheOperands) {
  load(
      R"(func.func @main(%x: tensor<?x2xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?x2xf32>, tensor<2x?xf32>, tensor<?x2xi1>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x2xf32>, tensor<f32>) -> tensor<?xf32>
    %gram = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x?xf32>
    %padded = stablehlo.pad %gram, %zero, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?x?xf32>
    %twice = stablehlo.concatenate %x, %x, dim = 0 : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
    %turned = stablehlo.transpose %x, dims = [1, 0] : (tensor<?x2xf32>) -> tensor<2x?xf32>
    %wide = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<?xf32>) -> tensor<?x2xf32, #stablehlo.bounds<8, ?>>
    %less = stablehlo.compare LT, %x, %wide : (tensor<?x2xf32>, tensor<?x2xf32, #stablehlo.bounds<8, ?>>) -> tensor<?x2xi1>
    return %padded, %sum, %gram, %twice, %turned, %less : tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?x2xf32>, tensor<2x?xf32>, tensor<?x2xi1>
  })");
  using Shape = std::vector<std::int64_t>;
  for (const std::int64_t n : {1, 3}) {
    Tensor x = Tensor::zeros(element("f32"), {n, 2});
    for (std::int64_t i = 0; i < 2 * n; ++i)
      x.as<float>()[i] = static_cast<float>(i);
    const std::vector<Value> results = run("main", {x});
    ASSERT_EQ(results.size(), 6u) << error;
    EXPECT_EQ(results[0].tensor().shape, (Shape{n + 1, n}));
    EXPECT_EQ(results[3].tensor().shape, (Shape{2 * n, 2}));
    EXPECT_EQ(results[4].tensor().shape, (Shape{2, n}));
    EXPECT_EQ(results[5].tensor().shape, (Shape{n, 2}));
    for (std::int64_t i = 0; i < n; ++i) {
      // Row i is (2i, 2i + 1).
      EXPECT_EQ(results[1].tensor().as<float>()[i], static_cast<float>(4 * i + 1));
      for (std::int64_t j = 0; j < n; ++j)
        EXPECT_EQ(results[2].tensor().as<float>()[i * n + j],
                  static_cast<float>(2 * i * 2 * j + (2 * i + 1) * (2 * j + 1)));
    }
  }
  // Known extents of the type are still checked.
  run("main", {Tensor::zeros(element("f32"), {2, 3})});
  expectError({"argument 0", "expected tensor<?x2xf32>, found tensor<2x3xf32>"});
}

TEST_F(Interpreter, RefusesShapesThatDoNotFitWhenTheyAreMet) {
  load(R"(func.func @slice(%x: tensor<?xf32>) -> tensor<4xf32> {
    %y = stablehlo.slice %x [0:4] : (tensor<?xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func @add(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    %z = stablehlo.add %x, %y : tensor<?xf32>
    return %z : tensor<?xf32>
  }
  func.func @pad(%x: tensor<?xf32>) -> tensor<?xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %y = stablehlo.pad %x, %zero, low = [-3], high = [0], interior = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
    return %y : tensor<?xf32>
  }
  func.func @bounded(%x: tensor<?xf32, #stablehlo.bounds<2>>) { return })");
  run("slice", {floats({1, 2, 3})});
  expectError({"program.mlir:2:10", "stablehlo.slice", "up to index 4 of tensor<3xf32>"});
  run("add", {floats({1, 2, 3}), floats({1, 2})});
  expectError({"stablehlo.add", "tensor<3xf32>", "tensor<2xf32>"});
  run("pad", {floats({1, 2})});
  expectError({"stablehlo.pad", "negative extent"});
  run("bounded", {floats({1, 2, 3})});
  expectError({"argument 0", "bounds<2>", "found tensor<3xf32>"});
}

// An evaluator may take a value that the program does not use again: no byte is copied.
TEST_F(Interpreter, TheLastUseOfAValueMovesIt) {
  load(R"(func.func private @same(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
  func.func @main(%x: tensor<4xf32>) -> tensor<2x2xf32> {
    %z = call @same(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %y = stablehlo.reshape %z : (tensor<4xf32>) -> tensor<2x2xf32>
    return %y : tensor<2x2xf32>
  }
  func.func @again(%x: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<4xf32>) {
    %y = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>
    return %y, %x : tensor<2x2xf32>, tensor<4xf32>
  }
  func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = stablehlo.add %x, %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func @region(%x: tensor<4xf32>, %w: tensor<f32>) -> tensor<f32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %y = stablehlo.reduce(%x init: %zero) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
      reducer(%a: tensor<f32>, %b: tensor<f32>) {
        %p = stablehlo.multiply %b, %w : tensor<f32>
        %s = stablehlo.add %a, %p : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }
    %r = stablehlo.add %y, %w : tensor<f32>
    return %r : tensor<f32>
  })");
  const auto given = [] { return Value(floats({1, 2, 3, 4})); };
  const auto place = [](const Value& value) { return value.tensor().bytes.data(); };
  Value x = given();
  const std::byte* at = place(x);
  std::vector<Value> arguments;
  arguments.push_back(std::move(x));
  std::vector<Value> results = run("main", std::move(arguments));
  ASSERT_EQ(results.size(), 1u) << error;
  EXPECT_EQ(place(results[0]), at);
  // A value with another owner is not changed.
  Value held = given();
  results = run("main", {held});
  EXPECT_NE(place(results.at(0)), place(held));
  results = run("again", {given()});
  EXPECT_EQ(results.at(1).tensor(), floats({1, 2, 3, 4}));
  EXPECT_NE(place(results[0]), place(results[1]));
  results = run("twice", {given()});
  EXPECT_EQ(results.at(0).tensor(), floats({2, 4, 6, 8}));
  Tensor weight = Tensor::zeros(element("f32"), {});
  weight.as<float>()[0] = 10;
  results = run("region", {given(), weight});
  ASSERT_EQ(results.size(), 1u) << error;
  EXPECT_EQ(results[0].tensor().as<float>()[0], 110.0f);
}

TEST_F(Interpreter, RegionsSeeTheValuesAroundThem) {
  load(R"(func.func @main(%x: tensor<3xf32>, %w: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %y = stablehlo.reduce(%x init: %zero) across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
      reducer(%a: tensor<f32>, %b: tensor<f32>) {
        %p = stablehlo.multiply %b, %w : tensor<f32>
        %s = stablehlo.add %a, %p : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }
    return %y, %w : tensor<f32>, tensor<f32>
  })");
  Tensor weight = Tensor::zeros(element("f32"), {});
  weight.as<float>()[0] = 10;
  const std::vector<Value> results = run("main", {floats({1, 2, 3}), weight});
  ASSERT_EQ(results.size(), 2u) << error;
  EXPECT_EQ(results[0].tensor().as<float>()[0], 60.0f);
}

TEST_F(Interpreter, ReadsConstantsOfEveryWidth) {
  load(
      R"(func.func @main() -> (tensor<10xi1>, tensor<2xi1>, tensor<3xi4>, tensor<3xf4E2M1FN>, tensor<2xf6E3M2FN>, tensor<2xf64>) {
    %a = stablehlo.constant dense<[true, false, true, true, false, false, false, false, false, true]> : tensor<10xi1>
    %b = stablehlo.constant dense<true> : tensor<2xi1>
    %c = stablehlo.constant dense<[-1, 7, -8]> : tensor<3xi4>
    %d = stablehlo.constant dense<[6.0, -0.5, 1.0]> : tensor<3xf4E2M1FN>
    %e = stablehlo.constant dense<28.0> : tensor<2xf6E3M2FN>
    %f = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf64>
    return %a, %b, %c, %d, %e, %f : tensor<10xi1>, tensor<2xi1>, tensor<3xi4>, tensor<3xf4E2M1FN>, tensor<2xf6E3M2FN>, tensor<2xf64>
  })");
  const std::vector<Value> results = run("main");
  ASSERT_EQ(results.size(), 6u) << error;
  const auto codes = [&](int i) {
    std::vector<std::uint64_t> list;
    for (std::int64_t k = 0; k < results[i].tensor().size(); ++k)
      list.push_back(results[i].tensor().code(k));
    return list;
  };
  using Codes = std::vector<std::uint64_t>;
  EXPECT_EQ(codes(0), (Codes{1, 0, 1, 1, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(codes(1), (Codes{1, 1}));
  EXPECT_EQ(codes(2), (Codes{0xF, 0x7, 0x8}));
  EXPECT_EQ(codes(3), (Codes{0x7, 0x9, 0x2}));
  EXPECT_EQ(codes(4), (Codes{0x1F, 0x1F}));
  EXPECT_EQ(codes(5), (Codes{0x3FF0000000000000, 0xC000000000000000}));
}

// Blobs start with four bytes of alignment. Booleans take a byte each, unlike in dense attributes.
TEST_F(Interpreter, ReadsResources) {
  load(R"(func.func @main() -> (tensor<2xf32>, tensor<3xi1>) {
    %a = stablehlo.constant dense_resource<floats> : tensor<2xf32>
    %b = stablehlo.constant dense_resource<bits> : tensor<3xi1>
    return %a, %b : tensor<2xf32>, tensor<3xi1>
  }
  func.func @short() -> tensor<3xf32> {
    %a = stablehlo.constant dense_resource<short> : tensor<3xf32>
    return %a : tensor<3xf32>
  }
  {-#
    dialect_resources: { builtin: {
      floats: "0x040000000000803F000000C0",
      bits: "0x01000000010001",
      short: "0x040000000000803F000000C0"
    } }
  #-})");
  const std::vector<Value> results = run("main");
  ASSERT_EQ(results.size(), 2u) << error;
  EXPECT_EQ(results[0].tensor(), floats({1, -2}));
  EXPECT_EQ(decodeIntegers(results[1].tensor()), (std::vector<std::uint64_t>{1, 0, 1}));
  run("short");
  expectError({"stablehlo.constant", "8 bytes; 12 are needed"});
}

// Finds operations of the project's dialects without an evaluator, and evaluators of operations
// that do not exist.
TEST_F(Interpreter, EveryOperationHasAnEvaluator) {
  const std::vector<std::string> evaluated = evaluatedOperations();
  std::set<std::string> registered;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
    if (llvm::is_contained({"stablehlo", "chlo", "check", "octavo"}, name.getDialectNamespace()))
      registered.insert(name.getStringRef().str());
  for (const std::string& name : registered)
    EXPECT_TRUE(std::binary_search(evaluated.begin(), evaluated.end(), name)) << name;
  for (const std::string& name : evaluated)
    EXPECT_TRUE(mlir::RegisteredOperationName::lookup(name, &context)) << name;
}

} // namespace
} // namespace octavo::interpreter
