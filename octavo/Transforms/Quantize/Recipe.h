// Recipes: an ordered list of rules in JSON that gives dots their formats (docs/recipes.md).
#pragma once

#include "octavo/Transforms/Quantize/QuantizeDots.h"

#include "llvm/Support/Error.h"

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::transforms {

/// A recipe with a name instead of a file. All keep routers wide, as quantizers of
/// mixture-of-experts models do. Those for training let NaN and infinities through, so that a loss
/// scale that is too large shows in the gradients.
struct NamedRecipe {
  std::string_view name;
  std::string_view summary;
  std::string_view text; ///< JSON, as in a file
};

inline constexpr std::array kRecipes = {
    NamedRecipe{"mxfp8", "MXFP8 E4M3, weights and activations",
                R"({"rules": [
  {"place": "router", "keep": "f32", "reason": "it chooses experts"},
  {"weights": "mxfp8_e4m3"}]})"},
    NamedRecipe{"mxfp8-inner",
                "MXFP8 E4M3; the first and the last layer and weights of fewer than 16384 elements "
                "stay as they are",
                R"({"rules": [
  {"place": "first", "keep": "f32", "reason": "first layer of the program"},
  {"place": "last", "keep": "f32", "reason": "last layer of the program"},
  {"place": "router", "keep": "f32", "reason": "it chooses experts"},
  {"smaller_than": 16384, "keep": "f32", "reason": "its weight is small"},
  {"weights": "mxfp8_e4m3"}]})"},
    NamedRecipe{"mxfp4-weights", "MXFP4 weights, activations as they are",
                R"({"rules": [
  {"place": "router", "keep": "f32", "reason": "it chooses experts"},
  {"weights": "mxfp4", "activations": "none"}]})"},
    NamedRecipe{"mxfp4-mxfp8", "MXFP4 weights, MXFP8 E4M3 activations",
                R"({"rules": [
  {"place": "router", "keep": "f32", "reason": "it chooses experts"},
  {"weights": "mxfp4", "activations": "mxfp8_e4m3"}]})"},
    NamedRecipe{"nvfp4", "NVFP4, weights and activations", R"({"rules": [
  {"place": "router", "keep": "f32", "reason": "it chooses experts"},
  {"weights": "nvfp4"}]})"},
    NamedRecipe{"fp8-training",
                "FP8 with a scale a tensor, from each step's values: E4M3, gradients E5M2",
                R"({"rules": [
  {"place": "router", "keep": "f32", "reason": "it chooses experts"},
  {"weights": "fp8_tensor", "gradients": "fp8_e5m2_tensor", "non_finite": "propagate"}]})"},
    NamedRecipe{"fp8-delayed",
                "FP8 with a scale a tensor, from the 16 steps before: E4M3, gradients E5M2",
                R"({"rules": [
  {"place": "router", "keep": "f32", "reason": "it chooses experts"},
  {"weights": "fp8_tensor", "gradients": "fp8_e5m2_tensor", "scaling": "delayed"}]})"},
    NamedRecipe{"mxfp8-training", "MXFP8 E4M3, gradients MXFP8 E5M2 rounded stochastically",
                R"({"rules": [
  {"place": "router", "keep": "f32", "reason": "it chooses experts"},
  {"weights": "mxfp8_e4m3", "gradients": "mxfp8_e5m2", "gradient_rounding": "stochastic",
   "rule": "round-up", "non_finite": "propagate"}]})"},
    NamedRecipe{"nvfp4-training",
                "NVFP4; gradients rounded stochastically, products of gradients and activations "
                "rotated by random Hadamard transforms",
                R"({"rules": [
  {"place": "router", "keep": "f32", "reason": "it chooses experts"},
  {"weights": "nvfp4", "gradient_rounding": "stochastic", "hadamard": 16,
   "non_finite": "propagate"}]})"},
    NamedRecipe{"fp8-row", "FP8 E4M3, an f32 scale a row",
                R"({"rules": [
  {"place": "router", "keep": "f32", "reason": "it chooses experts"},
  {"weights": "fp8_row"}]})"},
    NamedRecipe{"fp8-block", "FP8 E4M3, weights in blocks of 128x128, activations of 1x128",
                R"({"rules": [
  {"place": "router", "keep": "f32", "reason": "it chooses experts"},
  {"weights": "fp8_block"}]})"},
};

/// Reads a recipe's text. Paths of calibrations are relative to the working folder; in a file of
/// readRecipe, to the file's folder. Errors name `file` and the place in it:
/// - invalid JSON;
/// - an unknown key, format or name of a setting (with near names);
/// - a value of the wrong type;
/// - a rule that both keeps and quantizes, or does neither;
/// - a calibration that cannot be read;
/// - an error of checkOptions.
llvm::Expected<Recipe> parseRecipe(std::string_view text, const std::string& file);

/// The text of a recipe file with these rules, which readRecipe reads back if the file is in
/// `folder`. Preconditions: names, reasons and paths are UTF-8; the rules have the default
/// calibration range and strength, no delayed scales, and no random numbers.
std::string recipeText(const std::vector<DotRule>& rules, const std::filesystem::path& folder);

/// Spells an exact name for DotRule::names, also one that begins as a regular expression does.
std::string exactName(const std::string& name);

/// The recipe of that name in kRecipes, or else that of the file at that path.
llvm::Expected<Recipe> readRecipe(const std::string& nameOrPath);

} // namespace octavo::transforms
