// Tests that the processes of a grid work in threads, for runs under the thread sanitizer. The
// results of collectives are tested in test/Reference/collectives.mlir.
#include "octavo/Interpreter/Interpreter.h"

#include "octavo/Dialect/Register.h"
#include "octavo/Interpreter/Tensor/Elements.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace octavo::interpreter {
namespace {

class ProcessGrid : public testing::Test {
protected:
  ProcessGrid() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// The first element of each process's result. Empty if the run fails; then `error` is set.
  std::vector<double> run(llvm::StringRef text, std::vector<double> values) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context, "program.mlir");
    if (!module)
      return {};
    std::vector<Value> arguments;
    for (const double value : values)
      arguments.push_back(encodeElements(format::element("f32"), {1}, std::vector<double>{value}));
    auto results = evaluate(*module, "main", std::move(arguments), RunContext());
    if (!results) {
      error = llvm::toString(results.takeError());
      return {};
    }
    std::vector<double> first;
    for (const Value& value : *results)
      first.push_back(decodeElements(value.tensor()).front());
    return first;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string error;
};

TEST_F(ProcessGrid, SumsAgainAndAgain) {
  // 200 iterations of x := (sum over all four) / 4 + x - x, then one rotation around the ring.
  const std::vector<double> results = run(R"(module attributes {mhlo.num_partitions = 4 : i32} {
    func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %end = stablehlo.constant dense<200> : tensor<i32>
      %quarter = stablehlo.constant dense<0.25> : tensor<1xf32>
      %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<1xf32>
        cond {
          %t = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %t : tensor<i1>
        } do {
          %one = stablehlo.constant dense<1> : tensor<i32>
          %s = "stablehlo.all_reduce"(%v) ({
            ^bb0(%a: tensor<f32>, %b: tensor<f32>):
              %c = stablehlo.add %a, %b : tensor<f32>
              stablehlo.return %c : tensor<f32>
          }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
              channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
              use_global_device_ids} : (tensor<1xf32>) -> tensor<1xf32>
          %m = stablehlo.multiply %s, %quarter : tensor<1xf32>
          %n = stablehlo.add %i, %one : tensor<i32>
          stablehlo.return %n, %m : tensor<i32>, tensor<1xf32>
        }
      %id = stablehlo.partition_id : tensor<ui32>
      %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
      %own = stablehlo.reshape %f : (tensor<f32>) -> tensor<1xf32>
      %turned = "stablehlo.collective_permute"(%own) {
        source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>
      } : (tensor<1xf32>) -> tensor<1xf32>
      %all = stablehlo.add %r#1, %turned : tensor<1xf32>
      return %all : tensor<1xf32>
    }
  })",
                                          {1, 2, 3, 6});
  EXPECT_EQ(results, (std::vector<double>{3 + 3, 3 + 0, 3 + 1, 3 + 2})) << error;
}

TEST_F(ProcessGrid, ManualComputationsMakeGridsOfTheirOwn) {
  const std::vector<double> results = run(R"(module {
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
      %wide = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<1xf32>) -> tensor<4xf32>
      %r = sdy.manual_computation(%wide) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%own: tensor<1xf32>) {
        %s = "stablehlo.all_reduce"(%own) ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %c = stablehlo.add %a, %b : tensor<f32>
            stablehlo.return %c : tensor<f32>
        }) {replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>,
            channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
            use_global_device_ids} : (tensor<1xf32>) -> tensor<1xf32>
        sdy.return %s : tensor<1xf32>
      } : (tensor<4xf32>) -> tensor<1xf32>
      return %r : tensor<1xf32>
    }
  })",
                                          {2.5});
  EXPECT_EQ(results, std::vector<double>{10}) << error;
}

TEST_F(ProcessGrid, ADeadlockEndsEachThread) {
  // Process 0 waits for a collective that process 1 never enters.
  EXPECT_TRUE(run(R"(module attributes {mhlo.num_partitions = 2 : i32} {
    func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
      %id = stablehlo.partition_id : tensor<ui32>
      %index = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
      %r = "stablehlo.case"(%index) ({
        %s = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64,
            replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>,
            channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
            use_global_device_ids} : (tensor<1xf32>) -> tensor<2xf32>
        %t = stablehlo.slice %s [0:1] : (tensor<2xf32>) -> tensor<1xf32>
        stablehlo.return %t : tensor<1xf32>
      }, {
        stablehlo.return %x : tensor<1xf32>
      }) : (tensor<i32>) -> tensor<1xf32>
      return %r : tensor<1xf32>
    }
  })",
                  {1, 2})
                  .empty());
  EXPECT_NE(error.find("all_gather"), std::string::npos) << error;
}

} // namespace
} // namespace octavo::interpreter
