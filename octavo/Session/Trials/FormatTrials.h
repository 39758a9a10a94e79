// A program under any choice of formats for its dots, made to be tried many times: read once, its
// weights bound once and quantized once for each format that one is asked for.
#pragma once

#include "octavo/Analysis/FormatSearch.h"
#include "octavo/Session/Backends.h"
#include "octavo/Session/CallableProgram.h"

#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <string>
#include <vector>

namespace octavo::session {

/// Dots that can only have one format: the only one of its name, or all that multiply one weight.
struct TrialDot {
  std::vector<std::string> names = {}; ///< by which a recipe takes these dots and no others
  std::vector<transforms::DotRecord> dots = {};
  std::int64_t weightElements = 0;
  std::vector<std::int64_t> weightBits = {}; ///< of its weights, for each candidate
};

struct TrialOptions {
  std::string function = {};             ///< empty: session::findFunction's
  const Backend* backend = nullptr;      ///< must be given
  std::vector<std::string> weights = {}; ///< as PreparationOptions has them
  transforms::DotOptions dots = {};      ///< which dots; its formats and rules are not used
  /// Candidate i + 1 of each dot; candidate 0 is the dot as it is. At least one.
  std::vector<transforms::DotFormats> candidates = {};
};

class FormatTrials {
public:
  /// The errors are those of CallableProgram::make; a program of whose dots none can be narrow,
  /// with the reason of the first.
  static llvm::Expected<std::unique_ptr<FormatTrials>>
  make(std::shared_ptr<mlir::MLIRContext> context, ProgramFile program, TrialOptions options);

  const std::string& name() const { return functionName; }
  /// Of the program as it is.
  const std::vector<program::Argument>& arguments() const { return taken; }
  const std::vector<TrialDot>& dots() const { return tunable; }
  const std::vector<transforms::DotRecord>& allDots() const { return records; }
  const std::vector<transforms::DotFormats>& candidates() const { return options.candidates; }
  const std::vector<std::string>& resultNames() const { return names; }

  /// `f32` for candidate 0, else as transforms::dotFormatsOf reads it.
  std::string candidateName(std::size_t candidate) const;
  /// Bytes of the weights of all dots(), and bits of one value of them; 0 where there are none.
  std::int64_t weightBytes(const analysis::Choice& choice) const;
  double bitsPerWeight(const analysis::Choice& choice) const;

  /// Before the first run: of each set of inputs a value for every argument. Weights that are the
  /// same in several sets are the same value.
  void setInputs(std::vector<std::vector<program::Value>> sets) { inputs = std::move(sets); }
  std::size_t inputSets() const { return inputs.size(); }

  /// Of all that outputs depend on, the values of the inputs too; and of `more`.
  std::string digest(const std::string& more) const;

  /// The rules of a recipe for a choice: one for each format that a dot has, and one for those that
  /// stay as they are, with `reason`.
  std::vector<transforms::DotRule> rules(const analysis::Choice& choice,
                                         const std::string& reason) const;

  /// The results for each set of inputs, tensors all.
  using Outputs = std::vector<std::vector<program::Value>>;
  llvm::Expected<Outputs> run(const analysis::Choice& choice, const program::RunContext& host);

  /// The seconds that all sets of inputs take together, for each choice, compiled and with weights
  /// packed: of each set the least of `repeat` runs, which what else the machine does disturbs
  /// least. The choices run by turns, so that what lasts longer disturbs them alike.
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
  /// A set of inputs as the program of a choice takes it, and what that has made ready for it.
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
  std::vector<std::vector<QuantizedWeight>> weights; ///< of each argument
  std::size_t uses = 0;
};

} // namespace octavo::session
