#include "octavo/Session/Binding/Binding.h"

#include "octavo/Checkpoint/Files/Npy.h"
#include "octavo/Checkpoint/Files/Safetensors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <span>

namespace octavo::session {
namespace {

using format::element;
using numerics::ElementType;
using numerics::IntegerType;
using numerics::Tensor;

Tensor f32(std::vector<std::int64_t> shape, std::vector<float> values) {
  Tensor tensor = Tensor::zeros(element("f32"), std::move(shape));
  std::copy(values.begin(), values.end(), tensor.as<float>().begin());
  return tensor;
}

/// Two weights and two inputs, with files in a temporary folder.
class Binding : public testing::Test {
protected:
  Binding() {
    std::string name = (std::filesystem::temp_directory_path() / "octavo-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~Binding() override { std::filesystem::remove_all(folder); }

  std::filesystem::path
  safetensors(const std::string& name,
              const std::vector<std::pair<std::string, Tensor>>& tensors) const {
    std::vector<checkpoint::NamedTensor> named;
    for (const auto& [key, tensor] : tensors)
      named.push_back({key, &tensor});
    EXPECT_TRUE(checkpoint::writeSafetensors(folder / name, named));
    return folder / name;
  }
  std::filesystem::path npy(const std::string& name, const Tensor& tensor) const {
    EXPECT_TRUE(checkpoint::writeNpy(folder / name, tensor));
    return folder / name;
  }

  std::filesystem::path weights() const {
    return safetensors("w.safetensors", {{"layer.weight", f32({2, 3}, {1, 2, 3, 4, 5, 6})},
                                         {"layer.bias", f32({2}, {7, 8})}});
  }

  /// The error of binding; "bound" if it succeeds.
  std::string message(const Sources& sources) const {
    auto bound = bindArguments(arguments, sources, "@main");
    return bound ? "bound" : llvm::toString(bound.takeError());
  }

  std::filesystem::path folder;
  std::vector<program::Argument> arguments = {
      {"layer.weight", {2, 3}, ElementType(element("f32")), true},
      {"layer.bias", {2}, ElementType(element("f32")), true},
      {"x", {3}, ElementType(element("f32"))},
      {"ids", {1}, ElementType(IntegerType{32, false})},
  };
};

/// An executable that takes argument 0 unread.
class Reader : public program::Executable {
public:
  std::int64_t processes() const override { return 1; }
  tl::expected<std::vector<Value>, std::string> run(std::vector<Value> /*arguments*/,
                                                    const program::RunContext& /*host*/,
                                                    program::ResultMemory /*memory*/) override {
    return std::vector<Value>();
  }
  program::Explanation explain() const override { return {}; }
  bool takesUnread(std::size_t argument) const override { return argument == 0; }
  program::Outcome bind(std::size_t argument, const Value& value) const override {
    EXPECT_EQ(argument, 0u);
    std::vector<float> two(2);
    if (auto done = value.unread().read(8, std::as_writable_bytes(std::span(two))); !done)
      return tl::unexpected(done.error());
    EXPECT_EQ(two, (std::vector<float>{3, 4}));
    return {};
  }
};

#define EXPECT_HAS(text, words)                                                                    \
  EXPECT_NE((text).find(words), std::string::npos) << "no \"" << (words) << "\" in: " << (text)

TEST_F(Binding, leavesInFilesWhatAnExecutableReadsItself) {
  const Sources sources{.weights = {weights()},
                        .inputs = {{npy("x.npy", f32({3}, {1, 1, 1}))},
                                   {npy("ids.npy", Tensor::zeros(IntegerType{32, false}, {1}))}},
                        .reading = Reading::Later};
  auto bound = bindArguments(arguments, sources, "@main");
  ASSERT_TRUE(static_cast<bool>(bound)) << llvm::toString(bound.takeError());
  EXPECT_TRUE((*bound)[0].isUnread());
  EXPECT_TRUE((*bound)[1].isUnread());
  EXPECT_TRUE((*bound)[2].isTensor());
  EXPECT_EQ(program::storedBits((*bound)[0]), 6u * 32);
  EXPECT_EQ(llvm::toString(takeUnread(Reader(), *bound)), "");
  EXPECT_TRUE((*bound)[0].isUnread());
  EXPECT_EQ((*bound)[1].tensor(), f32({2}, {7, 8}));
}

TEST_F(Binding, aFileThatBecameShorterIsAnErrorOfWhoeverReadsIt) {
  const std::filesystem::path path = weights();
  const Sources sources{.weights = {path}, .reading = Reading::Later};
  auto bound = bindNamed(arguments, sources, "@main");
  ASSERT_TRUE(static_cast<bool>(bound)) << llvm::toString(bound.takeError());
  std::vector<Value> values{*(*bound)[0], *(*bound)[1]};
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 32);
  const std::string message = llvm::toString(takeUnread(Reader(), values));
  EXPECT_HAS(message, path.string());
  EXPECT_HAS(message, "layer.");
}

TEST_F(Binding, byNameAndByPosition) {
  const Tensor x = f32({3}, {1, 1, 1});
  Tensor ids = Tensor::zeros(IntegerType{32, false}, {1});
  ids.setCode(0, 5);
  const auto check = [&](const Sources& sources) {
    auto bound = bindArguments(arguments, sources, "@main");
    ASSERT_TRUE(static_cast<bool>(bound)) << llvm::toString(bound.takeError());
    ASSERT_EQ(bound->size(), 4u);
    EXPECT_EQ((*bound)[0].tensor().as<float>()[5], 6);
    EXPECT_EQ((*bound)[1].tensor().as<float>()[1], 8);
    EXPECT_EQ((*bound)[2].tensor(), x);
    EXPECT_EQ((*bound)[3].tensor(), ids);
  };
  const auto xFile = npy("x.npy", x), idsFile = npy("ids.npy", ids);
  check({.weights = {weights()}, .inputs = {{xFile}, {idsFile}}});
  check({.weights = {weights()}, .inputs = {{idsFile, "ids"}, {xFile, "x"}}});
  // An unnamed file is bound after the named ones, whatever their order.
  check({.weights = {weights()}, .inputs = {{idsFile}, {xFile, "x"}}});
  check({.weights = {weights()},
         .inputs = {{safetensors("in.safetensors", {{"x", x}, {"ids", ids}})}}});
}

TEST_F(Binding, aMissingWeightNamesWhatIsNear) {
  const auto file = safetensors("w.safetensors", {{"layer.weigth", f32({2, 3}, {1, 2, 3, 4, 5, 6})},
                                                  {"layer.bias", f32({2}, {7, 8})}});
  const std::string text =
      message({.weights = {file}, .inputs = {{npy("x.npy", f32({3}, {1, 1, 1})), "x"}}});
  EXPECT_HAS(text, "2 arguments of @main have no value");
  EXPECT_HAS(text, "\"layer.weight\" f32[2, 3]; did you mean layer.weigth?");
  EXPECT_HAS(text, "\"ids\" i32[1]");
  EXPECT_HAS(text, "1 tensor is not an argument of @main");
  EXPECT_HAS(text, "tensor \"layer.weigth\" F32[2, 3]; did you mean layer.weight?");
}

TEST_F(Binding, aTensorThatNoArgumentAsksFor) {
  arguments.erase(arguments.begin() + 2, arguments.end());
  const auto file = safetensors("w.safetensors", {{"layer.weight", f32({2, 3}, {1, 2, 3, 4, 5, 6})},
                                                  {"layer.bias", f32({2}, {7, 8})},
                                                  {"pooler.bias", f32({1}, {0})}});
  const std::string text = message({.weights = {file}});
  EXPECT_HAS(text, "1 tensor is not an argument of @main");
  EXPECT_HAS(text, "w.safetensors: tensor \"pooler.bias\" F32[1]");
  EXPECT_HAS(text, "--ignore-unused");
  EXPECT_EQ(message({.weights = {file}, .unused = UnusedTensors::Ignore}), "bound");
}

TEST_F(Binding, wrongShapeAndElementType) {
  arguments.erase(arguments.begin() + 1, arguments.end());
  const auto with = [&](const Tensor& tensor) {
    return message({.weights = {safetensors("w.safetensors", {{"layer.weight", tensor}})}});
  };
  std::string text = with(f32({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_HAS(text, "w.safetensors: tensor \"layer.weight\": cannot be argument \"layer.weight\"");
  EXPECT_HAS(text, "wrong shape: expected f32[2, 3], found f32[2, 4]");
  EXPECT_EQ(text.find("transpose"), std::string::npos);
  EXPECT_HAS(with(f32({3, 2}, {1, 2, 3, 4, 5, 6})), "found f32[3, 2]; transpose it");
  EXPECT_HAS(with(Tensor::zeros(element("bf16"), {2, 3})),
             "wrong element type: expected f32[2, 3], found bf16[2, 3]");
  EXPECT_HAS(with(Tensor::zeros(IntegerType{32, false}, {2, 3})), "found i32[2, 3]");
}

TEST_F(Binding, twoValuesForOneArgument) {
  const std::string text =
      message({.weights = {weights()}, .inputs = {{npy("b.npy", f32({2}, {0, 0})), "layer.bias"}}});
  EXPECT_HAS(text, "argument \"layer.bias\" of @main has two values");
  EXPECT_HAS(text, "w.safetensors: tensor \"layer.bias\"");
  EXPECT_HAS(text, "b.npy");
}

TEST_F(Binding, inputsThatFitNowhere) {
  const auto x = npy("x.npy", f32({3}, {1, 1, 1}));
  EXPECT_HAS(message({.weights = {weights()}, .inputs = {{x, "id"}}}),
             "@main has no argument \"id\"; did you mean ids?");
  EXPECT_HAS(message({.weights = {weights()}, .inputs = {{x, "x"}, {x, "ids"}, {x}}}),
             "no argument of @main is left for it");
  // Files without names are never bound to parameters.
  EXPECT_HAS(message({.inputs = {{x}, {x}, {x}}}), "is left for it");
  EXPECT_HAS(message({.inputs = {{folder / "x.txt"}}}), "ends in .npy or .safetensors");
  EXPECT_HAS(message({.inputs = {{weights(), "x"}}}), "by their own names");
  EXPECT_HAS(message({.weights = {x}}), "weights are read from .safetensors");
  EXPECT_HAS(message({.weights = {folder / "none.safetensors"}}),
             "none.safetensors: cannot be opened");
}

TEST_F(Binding, aScaledArgumentIsQuantized) {
  arguments.erase(arguments.begin() + 1, arguments.end());
  const numerics::ScaledType mxfp8{&element("e4m3fn"), &element("e8m0fnu"), {1, 32}, false};
  arguments[0] = {"w", {1, 2}, program::ScaledArgument{mxfp8, {}}, true};
  // amax 3 = 1.5 * 2^1: scale 2^(1 - 8), code 127 - 7; 3 / 2^-7 = 384 = 1.5 * 2^8, code 0x7c.
  auto bound = bindArguments(
      arguments, {.weights = {safetensors("w.safetensors", {{"w", f32({1, 2}, {3, 0})}})}},
      "@main");
  ASSERT_TRUE(static_cast<bool>(bound)) << llvm::toString(bound.takeError());
  const auto& scaled = (*bound)[0].scaled();
  EXPECT_EQ(scaled.scales, (std::vector<std::uint32_t>{120}));
  EXPECT_EQ(scaled.elements, (std::vector<std::uint8_t>{0x7c, 0}));
  EXPECT_EQ(program::storedBits((*bound)[0]), 2u * 8 + 8);

  // The same values as bf16: 0x4040 is 3.
  Tensor bf16 = Tensor::zeros(element("bf16"), {1, 2});
  bf16.setCode(0, 0x4040);
  auto again =
      bindArguments(arguments, {.weights = {safetensors("w.safetensors", {{"w", bf16}})}}, "@main");
  ASSERT_TRUE(static_cast<bool>(again)) << llvm::toString(again.takeError());
  EXPECT_EQ((*again)[0].scaled().elements, scaled.elements);

  EXPECT_HAS(message({.weights = {safetensors("w.safetensors",
                                              {{"w", Tensor::zeros(element("e5m2"), {1, 2})}})}}),
             "quantized from f32, f16 or bf16");
}

TEST_F(Binding, nanInAWeightIsRefusedUnlessAPolicyIsChosen) {
  const numerics::ScaledType mxfp8{&element("e4m3fn"), &element("e8m0fnu"), {1, 32}, false};
  arguments.erase(arguments.begin() + 1, arguments.end());
  arguments[0] = {"w", {2, 2}, program::ScaledArgument{mxfp8, {}}, true};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto file = safetensors("w.safetensors", {{"w", f32({2, 2}, {1, 2, 3, nan})}});
  const std::string text = message({.weights = {file}});
  EXPECT_HAS(text, "tensor \"w\": cannot be quantized");
  EXPECT_HAS(text, "element [1, 1] is nan");
  EXPECT_HAS(text, "--non-finite propagate");
  arguments[0].type = program::ScaledArgument{mxfp8, {.nonFinite = numerics::NonFinite::Propagate}};
  EXPECT_EQ(message({.weights = {file}}), "bound");
}

TEST_F(Binding, tensorsOfNoElements) {
  arguments = {{"w", {0, 3}, ElementType(element("f32")), true},
               {"x", {2, 0}, ElementType(element("f32"))}};
  EXPECT_EQ(message({.weights = {safetensors("w.safetensors", {{"w", f32({0, 3}, {})}})},
                     .inputs = {{npy("x.npy", f32({2, 0}, {}))}}}),
            "bound");
}

TEST(StoredBits, countCodesAsPacked) {
  EXPECT_EQ(program::storedBits(Tensor::zeros(element("e2m1fn"), {3})), 12u);
  EXPECT_EQ(program::storedBits(Tensor::zeros(IntegerType{1, false}, {3})), 24u);
  numerics::ScaledTensor nvfp4{
      {1, 16}, {&element("e2m1fn"), &element("e4m3fn"), {1, 16}, true}, {}, {}};
  nvfp4.elements.resize(16);
  nvfp4.scales.resize(1);
  EXPECT_EQ(program::storedBits(nvfp4), 16u * 4 + 8 + 32);
}

} // namespace
} // namespace octavo::session
