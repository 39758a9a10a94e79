// The report of `octavo run`, as text and as JSON (docs/commands/run.md has the schema).
#pragma once

#include "tools/octavo/program/RunProfile.h"

#include "octavo/Numerics/Tensor.h"
#include "octavo/Program/Values/Argument.h"
#include "octavo/Program/Values/Comparison.h"
#include "octavo/Session/Trials/DotErrors.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace octavo::tools {

/// Sizes of tensors: as f32, and as stored, with packed codes and scales.
struct StoredSize {
  std::int64_t tensors = 0;
  std::int64_t values = 0;
  std::uint64_t bits = 0;

  void add(const program::Value& value);
  std::uint64_t bytesAsF32() const { return static_cast<std::uint64_t>(values) * 4; }
  std::uint64_t bytes() const { return (bits + 7) / 8; }
  /// 0 if there are no values.
  double bitsPerValue() const;
};

/// The sizes of a program's weights.
struct WeightSizes {
  StoredSize all;
  StoredSize quantized; ///< the scaled tensors among them
};

/// The sizes of the arguments that are parameters.
WeightSizes weightSizes(std::span<const program::Argument> arguments,
                        std::span<const program::Value> values);

/// Durations of the parts of one run, in seconds.
struct RunTimes {
  double bind = 0; ///< reading files, quantizing weights
  double evaluate = 0;
  double prepare = 0;             ///< compiling, if the backend compiles
  std::vector<double> repeated{}; ///< each run after the first
};

/// One output of the run.
struct OutputReport {
  std::string name;
  const numerics::Tensor* tensor;
  std::optional<std::int64_t> process;           ///< the process that returned it, on a grid
  std::optional<program::Comparison> comparison; ///< with RunReport::comparedWith
  std::optional<program::UlpDistance> ulps = {}; ///< if comparedWith is the reference
};

/// The quantization of the program.
struct QuantizationReport {
  std::string recipe; ///< empty: format, activations and rule apply to all dots
  std::string format;
  std::string activations; ///< empty: only weights are quantized
  std::string rule;
  std::int64_t dotsQuantized = 0;
  std::string whyLeft; ///< why the first dot is not quantized, if none is
  std::int64_t dots = 0;
  std::int64_t others = 0; ///< products of other kinds, which are not quantized
  double seconds = 0;
  bool hasState = false; ///< arguments and results differ from those of the unchanged program
};

/// Counts of dots whose operands come from narrow tensors.
struct RecoveryReport {
  std::int64_t narrow = 0; ///< recovered as products of scaled tensors
  std::int64_t missed = 0; ///< still products of wide values
  double seconds = 0;
};

/// Counts of tensors that the program quantizes and dequantizes.
struct DropCounts {
  std::int64_t dropped = 0; ///< their codes are only dequantized, so they are left wide
  std::int64_t kept = 0;    ///< their codes have another use
};

/// Everything that `octavo run` reports of one run.
struct RunReport {
  std::string program;
  std::string function;
  std::string backend;
  std::optional<RecoveryReport> recovery;
  std::optional<DropCounts> drops;
  std::optional<QuantizationReport> quantization;
  WeightSizes weights;
  RunTimes times;
  std::string comparedWith = {}; ///< of --compare: f32 (the unchanged program) or reference
  std::optional<RunTimes> comparedTimes;
  /// Times of the unchanged program, if runs are repeated and the program was changed.
  std::optional<RunTimes> f32Times = {};
  std::optional<ProfileReport> profile = {};
  std::vector<OutputReport> outputs;
  std::optional<session::DotErrors> dotErrors = {};
};

std::string text(const DropCounts& counts);
nlohmann::ordered_json json(const DropCounts& counts);
std::string text(const RunReport& report);
std::string json(const RunReport& report);

} // namespace octavo::tools
