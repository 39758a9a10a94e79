// Runs a program under different choices of formats for its dots. The program is read once, its
// weights are bound once, and each weight is quantized once per format.
#pragma once

#include "octavo/Analysis/FormatSearch.h"
#include "octavo/Session/Backends.h"
#include "octavo/Session/CallableProgram.h"

#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <string>
#include <vector>

namespace octavo::session {

/// Dots that must share a format: those with one recipe name, or those that multiply one weight.
struct TrialDot {
  std::vector<std::string> names = {}; ///< names by which a recipe selects exactly these dots
  std::vector<transforms::DotRecord> dots = {};
  std::int64_t weightElements = 0;
  std::vector<std::int64_t> weightBits = {}; ///< bits of its weights, per candidate
};

struct TrialOptions {
  std::string function = {};             ///< empty: session::findFunction's
  const Backend* backend = nullptr;      ///< must be given
  std::vector<std::string> weights = {}; ///< as in PreparationOptions
  transforms::DotOptions dots = {};      ///< selects the dots; formats
  /// Candidate i + 1 of each dot; candidate 0 leaves the dot unquantized. At least one.
  std::vector<transforms::DotFormats> candidates = {};
};

/// A program with its weights and inputs, to be run under many choices of formats.
class FormatTrials {
public:
  /// Fails like findFunction, argumentsOf and quantizeDots, and if no dot can be quantized; the
  /// error gives the reason of the first.
  static llvm::Expected<std::unique_ptr<FormatTrials>>
  make(std::shared_ptr<mlir::MLIRContext> context, ProgramFile program, TrialOptions options);

  const std::string& name() const { return functionName; }
  /// The arguments of the unquantized program.
  const std::vector<program::Argument>& arguments() const { return taken; }
  const std::vector<TrialDot>& dots() const { return tunable; }
  const std::vector<transforms::DotRecord>& allDots() const { return records; }
  const std::vector<transforms::DotFormats>& candidates() const { return options.candidates; }
  const std::vector<std::string>& resultNames() const { return names; }

  /// `f32` for candidate 0, else a name that transforms::dotFormatsOf reads.
  std::string candidateName(std::size_t candidate) const;
  /// Bytes of the weights of all dots(), and bits per weight value; 0 without weights.
  std::int64_t weightBytes(const analysis::Choice& choice) const;
  double bitsPerWeight(const analysis::Choice& choice) const;

  /// Sets the inputs before the first run: per set, one value for each argument. A weight that
  /// several sets share must be the same value.
  void setInputs(std::vector<std::vector<program::Value>> sets) { inputs = std::move(sets); }
  std::size_t inputSets() const { return inputs.size(); }

  /// A digest of all that outputs depend on, including the values of the inputs, and of `more`.
  std::string digest(const std::string& more) const;

  /// The recipe rules for a choice: one per format in use, and one for unquantized dots, with
  /// `reason`.
  std::vector<transforms::DotRule> rules(const analysis::Choice& choice,
                                         const std::string& reason) const;

  /// The results for each set of inputs; all are tensors.
  using Outputs = std::vector<std::vector<program::Value>>;
  llvm::Expected<Outputs> run(const analysis::Choice& choice, const program::RunContext& host);

  /// The seconds for all sets of inputs together, per choice, compiled and with packed weights. For
  /// each set the shortest of `repeat` runs counts, because it is disturbed least by other load.
  /// The choices run in turns, so that longer disturbances affect them alike.
  llvm::Expected<std::vector<double>> seconds(llvm::ArrayRef<analysis::Choice> choices,
                                              std::size_t repeat, const program::RunContext& host);

private:
  FormatTrials() = default;

  struct QuantizedWeight {
    program::ScaledArgument type;
    program::Value from, value;
    std::size_t lastUse;
  };

  llvm::Error findDots();
  llvm::Expected<std::unique_ptr<CallableProgram>> compiled(const analysis::Choice& choice) const;
  /// A set of inputs prepared for the program of a choice.
  struct Ready {
    CallableProgram::Prepared prepared;
    std::vector<program::Value> values;
  };
  llvm::Expected<Ready> readyFor(CallableProgram& program, std::size_t set);
  llvm::Expected<program::Value> quantized(const program::Argument& argument, std::size_t at,
                                           const program::Value& value);
  void forgetOld();

  std::shared_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> program;
  TrialOptions options;
  std::string functionName;
  std::vector<program::Argument> taken;
  std::vector<std::string> names;
  std::vector<TrialDot> tunable;
  std::vector<transforms::DotRecord> records;
  std::vector<std::vector<program::Value>> inputs;
  std::vector<std::vector<QuantizedWeight>> weights; ///< per argument
  std::size_t uses = 0;
};

} // namespace octavo::session
