#include "octavo/Session/Binding/Program.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace octavo::session {
namespace {

using numerics::ElementType;
using numerics::IntegerType;

#define EXPECT_HAS(text, words)                                                                    \
  EXPECT_NE((text).find(words), std::string::npos) << "no \"" << (words) << "\" in: " << (text)

class Program : public testing::Test {
protected:
  Program() {
    std::string name = (std::filesystem::temp_directory_path() / "octavo-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~Program() override { std::filesystem::remove_all(folder); }

  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> load(const std::string& text) {
    std::ofstream(folder / "p.mlir") << text;
    return loadProgram(folder / "p.mlir", *context);
  }
  mlir::ModuleOp loaded(const std::string& text) {
    auto result = load(text);
    EXPECT_TRUE(static_cast<bool>(result));
    if (!result) {
      ADD_FAILURE() << llvm::toString(result.takeError());
      std::abort();
    }
    program = std::move(*result);
    return *program;
  }
  template <typename T> static std::string message(llvm::Expected<T> value) {
    return value ? "no error" : llvm::toString(value.takeError());
  }
  std::vector<std::string> argumentNames(const std::string& text) {
    auto arguments = argumentsOf(*findFunction(loaded(text)));
    std::vector<std::string> names;
    if (!arguments)
      return {llvm::toString(arguments.takeError())};
    for (const program::Argument& argument : *arguments)
      names.push_back(argument.name);
    return names;
  }

  std::filesystem::path folder;
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  mlir::OwningOpRef<mlir::ModuleOp> program;
};

using Names = std::vector<std::string>;

TEST_F(Program, argumentsByAttributeThenLocationThenPosition) {
  EXPECT_EQ(argumentNames(R"(
    func.func @main(%a: tensor<f32> {octavo.name = "w"} loc("ignored"),
                    %b: tensor<f32> loc("params['x']"),
                    %c: tensor<f32> loc(fused["x.py":1:2, "named"]),
                    %d: tensor<f32>,
                    %e: tensor<f32> loc("twice"), %f: tensor<f32> loc("twice"),
                    %g: tensor<f32> loc("outer"("x.py":1:2))) { return })"),
            (Names{"w", "params['x']", "named", "arg3", "arg4", "arg5", "outer"}));
}

TEST_F(Program, typesOfArguments) {
  auto arguments = argumentsOf(*findFunction(loaded(R"(
    func.func @main(%a: tensor<2x3xf8E4M3FN> {octavo.parameter}, %b: tensor<ui4>,
                    %c: tensor<0xi1>) { return })")));
  ASSERT_TRUE(static_cast<bool>(arguments));
  EXPECT_EQ((*arguments)[0].shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(std::get<ElementType>((*arguments)[0].type), ElementType(format::element("e4m3fn")));
  EXPECT_TRUE((*arguments)[0].isParameter);
  EXPECT_EQ((*arguments)[0].describe(), "f8E4M3FN[2, 3]");
  EXPECT_EQ(std::get<ElementType>((*arguments)[1].type), ElementType(IntegerType{4, true}));
  EXPECT_FALSE((*arguments)[1].isParameter);
  EXPECT_EQ(std::get<ElementType>((*arguments)[2].type), ElementType(IntegerType{1, false}));
}

TEST_F(Program, scaledArguments) {
  auto arguments = argumentsOf(*findFunction(loaded(R"(
    func.func @main(
        %a: !octavo.scaled<4x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>
            {octavo.quantize = #octavo.quantization<rule = nearest, non_finite = propagate>})
        { return })")));
  ASSERT_TRUE(static_cast<bool>(arguments));
  EXPECT_EQ((*arguments)[0].shape, (std::vector<std::int64_t>{4, 64}));
  const auto& scaled = std::get<program::ScaledArgument>((*arguments)[0].type);
  EXPECT_EQ(*scaled.type.element, format::element("e2m1fn"));
  EXPECT_EQ(*scaled.type.scale, format::element("e4m3fn"));
  EXPECT_EQ(scaled.type.block, (std::vector<std::int64_t>{1, 16}));
  EXPECT_TRUE(scaled.type.hasOuterScale);
  EXPECT_EQ(scaled.options.rule, format::ScaleRule::Nearest);
  EXPECT_EQ(scaled.options.nonFinite, numerics::NonFinite::Propagate);
}

TEST_F(Program, argumentsThatCannotBeBound) {
  EXPECT_HAS(argumentNames("func.func @main(%a: tensor<*xf32>) { return }")[0],
             "argument 0 of @main cannot be bound: expected a tensor of known rank");
  EXPECT_HAS(argumentNames("func.func @main(%a: index) { return }")[0], "found index");
  EXPECT_HAS(argumentNames(R"(func.func @main(%a: tensor<f32> {octavo.name = "x"},
                                              %b: tensor<f32> {octavo.name = "x"}) { return })")[0],
             "two arguments of @main have the name \"x\": 0 and 1");
}

TEST_F(Program, argumentsOfExportedPrograms) {
  auto arguments = argumentsOf(*findFunction(loaded(R"(
    func.func @main(%a: tensor<i32> {jax.global_constant = "_platform_index"},
                    %b: tensor<?x3xf32>) { return })")));
  ASSERT_TRUE(static_cast<bool>(arguments));
  EXPECT_EQ((*arguments)[0].name, "_platform_index");
  EXPECT_TRUE((*arguments)[0].isOfPlatform);
  EXPECT_EQ((*arguments)[1].shape, (std::vector<std::int64_t>{program::kUnknownExtent, 3}));
  EXPECT_EQ((*arguments)[1].describe(), "f32[?, 3]");
}

TEST_F(Program, namesOfResults) {
  const auto names = [&](const std::string& text) {
    return resultNames(*findFunction(loaded(text)));
  };
  EXPECT_EQ(names(R"(
    func.func @main(%a: tensor<f32>) -> (tensor<f32> {octavo.name = "y", jax.result_info = "r"},
        tensor<f32> {jax.result_info = "result[0]"}, tensor<f32>) {
      return %a, %a, %a : tensor<f32>, tensor<f32>, tensor<f32> })"),
            (Names{"y", "result[0]", "output2"}));
}

TEST_F(Program, theFunctionToRun) {
  const auto found = [&](const std::string& text, llvm::StringRef name = {}) {
    auto function = findFunction(loaded(text), name);
    return function ? function->getName().str() : llvm::toString(function.takeError());
  };
  EXPECT_EQ(found("func.func @a() { return } func.func @main() { return }"), "main");
  EXPECT_EQ(found("func.func @a() { return } func.func private @b() { return }"), "a");
  EXPECT_EQ(found("func.func @a() { return } func.func private @b() { return }", "b"), "b");
  EXPECT_HAS(found("func.func @a() { return } func.func @b() { return }"),
             "no function @main and 2 public ones; choose one: --function NAME, in Python "
             "function=NAME\n  available: a, b");
  EXPECT_HAS(found("func.func @embed() { return }", "embd"), "did you mean embed?");
  EXPECT_HAS(found("module {}"), "has no function");
  EXPECT_HAS(found("func.func private @main()"), "no function @main and 0 public ones");
}

TEST_F(Program, functionsThatCheckThemselves) {
  auto functions = selfChecks(loaded(R"(
    func.func @a() {
      %0 = stablehlo.constant dense<1.0> : tensor<f32>
      check.expect_eq %0, %0 : tensor<f32>
      return
    }
    func.func @b(%a: tensor<f32>) { check.expect_eq %a, %a : tensor<f32> return }
    func.func @c() { return }
    func.func @d() {
      %0 = stablehlo.constant dense<1.0> : tensor<f32>
      stablehlo.custom_call @check.expect_eq(%0, %0) : (tensor<f32>, tensor<f32>) -> ()
      return
    })"));
  ASSERT_EQ(functions.size(), 2u);
  EXPECT_EQ(functions[0].getName(), "a");
  EXPECT_EQ(functions[1].getName(), "d");
}

TEST_F(Program, anArgumentThatIsGivenAwayNamesAResultOfItsType) {
  const auto message = [&](const std::string& attribute) {
    mlir::ModuleOp program =
        loaded("func.func @main(%x: tensor<2xf32> {tf.aliasing_output = " + attribute +
               "}, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<2xf32>) {\n"
               "  return %y, %x : tensor<3xf32>, tensor<2xf32>\n}");
    auto arguments = argumentsOf(program.lookupSymbol<mlir::func::FuncOp>("main"));
    return arguments ? "fits" : llvm::toString(arguments.takeError());
  };
  EXPECT_EQ(message("1 : i32"), "fits");
  EXPECT_HAS(message("2 : i32"), "argument \"arg0\" of @main: tf.aliasing_output = 2 names no "
                                 "result: there are 2");
  EXPECT_HAS(message("-1 : i32"), "names no result");
  EXPECT_HAS(message("0 : i32"), "names a result of another type: tensor<3xf32>");
}

TEST_F(Program, whatCannotBeRead) {
  EXPECT_HAS(message(loadProgram(folder / "none.mlir", *context)), "none.mlir: cannot be read: No");
  EXPECT_HAS(message(load("multiply, please")), "not a program that octavo can read");
  EXPECT_HAS(message(load("ML\xefR")), "at the end of the bytecode");
  const std::string text = message(load("func.func @main() {\n  foo.bar\n}"));
  EXPECT_HAS(text, "p.mlir:2:3");
  EXPECT_HAS(text, "foo");
  EXPECT_HAS(message(load("func.func @main() -> tensor<f32> { return }")), "p.mlir:1:");
}

TEST_F(Program, operationsThatOctavoDoesNotHave) {
  const std::string generic = message(load(R"(func.func @main() {
    "vhlo.call_v1"() : () -> ()
    "sdy.x"() {a = #vhlo.b} : () -> ()
    "vhlo.call_v1"() : () -> ()
    return })"));
  EXPECT_HAS(generic, "p.mlir:2:5");
  EXPECT_HAS(generic, "operation 'vhlo.call_v1' is not among the operations that octavo has");
  EXPECT_HAS(generic, "sdy.x (once), vhlo.call_v1 (2 times)");
  const std::string custom = message(load(R"(func.func @main() {
    vhlo.call_v1
    "sdy.x"() : () -> ()
    %0 = vhlo.call_v1
    return })"));
  EXPECT_HAS(custom, "p.mlir:2:5");
  EXPECT_HAS(custom, "operation 'vhlo.call_v1' is not among the operations that octavo has");
  EXPECT_HAS(custom, "sdy.x (once), vhlo.call_v1 (2 times)");
  for (const std::string& text : {generic, custom})
    EXPECT_EQ(text.find("allowUnregistered"), std::string::npos);
}

} // namespace
} // namespace octavo::session
