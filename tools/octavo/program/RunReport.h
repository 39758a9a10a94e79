// What `octavo run` has to say, as text and as JSON (docs/commands/run.md has the schema).
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

/// Sizes of tensors: as f32, and as they are held, codes packed and scales included.
struct StoredSize {
  std::int64_t tensors = 0;
  std::int64_t values = 0;
  std::uint64_t bits = 0;

  void add(const program::Value& value);
  std::uint64_t bytesAsF32() const { return static_cast<std::uint64_t>(values) * 4; }
  std::uint64_t bytes() const { return (bits + 7) / 8; }
  /// 0 where there are no values.
  double bitsPerValue() const;
};

struct WeightSizes {
  StoredSize all;
  StoredSize quantized; ///< those of them that are scaled tensors
};

/// The sizes of the arguments that are parameters.
WeightSizes weightSizes(std::span<const program::Argument> arguments,
                        std::span<const program::Value> values);

/// Seconds of the parts of one run.
struct RunTimes {
  double bind = 0; ///< reading files, quantizing weights
  double evaluate = 0;
  double prepare = 0;             ///< compiling, where the backend does
  std::vector<double> repeated{}; ///< of the runs after the first
};

struct OutputReport {
  std::string name;
  const numerics::Tensor* tensor;
  std::optional<std::int64_t> process;           ///< of a grid, which gave it
  std::optional<program::Comparison> comparison; ///< with RunReport::comparedWith
  std::optional<program::UlpDistance> ulps = {}; ///< where that is the reference
};

struct QuantizationReport {
  std::string recipe; ///< empty: the next three for all dots
  std::string format;
  std::string activations; ///< empty: weights only
  std::string rule;
  std::int64_t dotsQuantized = 0;
  std::string whyLeft; ///< of the first, where none is quantized
  std::int64_t dots = 0;
  std::int64_t others = 0; ///< products of other kinds, which are left
  double seconds = 0;
  bool hasState = false; ///< the program has other arguments and results than the one as it is
};

/// Of dots with narrow tensors behind them.
struct RecoveryReport {
  std::int64_t narrow = 0; ///< products of scaled tensors
  std::int64_t missed = 0; ///< of wide values still
  double seconds = 0;
};

/// Of tensors that the program quantizes and dequantizes.
struct DropCounts {
  std::int64_t dropped = 0; ///< their codes are only dequantized: left wide
  std::int64_t kept = 0;    ///< their codes have another use
};

struct RunReport {
  std::string program;
  std::string function;
  std::string backend;
  std::optional<RecoveryReport> recovery;
  std::optional<DropCounts> drops;
  std::optional<QuantizationReport> quantization;
  WeightSizes weights;
  RunTimes times;
  std::string comparedWith = {}; ///< f32, the program as it is, or reference
  std::optional<RunTimes> comparedTimes;
  /// Of the program as it is, where runs are repeated and it was changed.
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
