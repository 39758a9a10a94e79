// A program that is called from memory, as a function is: made narrow first if wanted, its weights
// bound, compiled. What `octavo.compile` of Python is.
#pragma once

#include "octavo/Program/Steps/BatchExtent.h"
#include "octavo/Program/Values/Donation.h"
#include "octavo/Program/Values/Executable.h"
#include "octavo/Program/Values/Savable.h"
#include "octavo/Session/Backends.h"
#include "octavo/Session/Binding/Binding.h"
#include "octavo/Session/Binding/ProgramFile.h"
#include "octavo/Session/OpenExtents.h"
#include "octavo/Session/Preparation.h"
#include "octavo/Session/Trials/DotErrors.h"
#include "octavo/Session/Trials/DotWidths.h"
#include "octavo/Transforms/Recover/MissedDots.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Error.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace octavo::session {

/// Any number of threads may call it at once.
class CallableProgram : public std::enable_shared_from_this<CallableProgram> {
public:
  using Result = program::Result;

  /// The program must be of `context`, which others may hold but no other thread may use. The
  /// errors are those of session::findFunction and argumentsOf, quantizeDots and the backend; a
  /// result that is no tensor; several processes.
  static llvm::Expected<std::unique_ptr<CallableProgram>>
  make(std::shared_ptr<mlir::MLIRContext> context, ProgramFile program, const Backend& backend,
       const PreparationOptions& options);

  const std::string& name() const { return functionName; }
  const std::vector<program::Argument>& arguments() const { return taken; }
  const std::vector<Result>& results() const { return given; }
  /// What became of the dots; empty without PreparationOptions::dots.
  const std::optional<transforms::DotReport>& dots() const { return report; }
  /// What became of scales; empty without PreparationOptions::dropsScales.
  const std::optional<transforms::DropReport>& dropped() const { return dropReport; }
  /// What the probes are on; empty without PreparationOptions::probes.
  const std::vector<transforms::CalibratedSide>& probed() const { return probedSides; }

  /// The dots that multiply wide values though narrow ones are behind them; none is looked for
  /// where extents are open.
  const std::vector<transforms::MissedDots>& missed() const { return missedDots; }

  /// What else is to be told to whoever compiles it, a line each: dots that were recovered with
  /// other values, and caches that are left though a rule gives them a format.
  const std::vector<std::string>& warnings() const { return told; }

  /// Of all its dots, as it is compiled (findDotWidths).
  llvm::Expected<DotWidths> dotWidths();

  /// Whether the program gives an argument's memory away for a result.
  bool isDonated(std::size_t argument, std::size_t result) const {
    return std::ranges::find(donations, program::Donation{argument, result}) != donations.end();
  }

  /// Gives arguments values for all calls. Each fits its argument. Before the first call.
  void bind(std::size_t argument, program::Value value);
  enum class BoundFor : std::uint8_t {
    Calls, ///< the files are read now
    Folder ///< save() reads them, one weight at a time; there are no calls
  };
  /// The same with tensors of files (bindNamed), read straight to what the executable makes of them
  /// where it needs nothing else. If the batch is open, the program is compiled now, for any number
  /// of items; if that is not possible, the tensors stay in memory beside what is made of them.
  llvm::Error bindFiles(Sources sources, BoundFor use = BoundFor::Calls);
  bool isBound(std::size_t argument) const { return bound[argument].has_value(); }
  /// Value of a bound argument.
  const program::Value& value(std::size_t argument) const { return *bound[argument]; }

  /// The executable for values, one an argument, and the types of its results. Where the program
  /// leaves extents open, one is made for any number of items, which is the first extent of what
  /// is open there, or if the program is not the same for each item, for the extents of the values;
  /// it is kept for the next ones.
  struct Prepared {
    std::vector<Result> results;
    std::shared_ptr<program::Executable> executable;
    bool isInterpreted = false; ///< in part or as a whole: such runs take turns
  };
  llvm::Expected<Prepared> prepare(std::span<const program::Value> values) {
    return prepare(shapesOf(values));
  }
  /// The same of values that have such shapes (shapesOf).
  llvm::Expected<Prepared> prepare(const Shapes& shapes);
  /// What is compiled depends on: the shapes of the values where extents are open, else nothing.
  Shapes shapesOf(std::span<const program::Value> values) const;
  /// What prepare() returns, if it is kept and no other thread is compiling the program. Else
  /// nullopt; prepare() may then take as long as a compilation.
  std::optional<Prepared> kept(const Shapes& shapes);

  /// `values` has one an argument, those that are bound among them. The memory of a result may be
  /// that of an argument, too, from the first byte to the last.
  llvm::Expected<std::vector<program::Value>> call(const Prepared& prepared,
                                                   std::vector<program::Value> values,
                                                   const program::RunContext& host,
                                                   program::ResultMemory memory);

  /// What dotErrors says of the program with its dots quantized so, on `values` as for `call`; of
  /// `options` the dots, the host and who is told. The error is dotErrors', or that the program was
  /// made with its dots quantized.
  llvm::Expected<DotErrors> dotErrors(std::span<const program::Value> values,
                                      DotErrorOptions options);

  /// Writes it to a folder with the values that are bound (program::Savable), and is not
  /// called afterwards. A program whose open extents are a number of items is written for any
  /// number of them; an error besides: others are open, or it is not the same for each item.
  llvm::Error save(const std::filesystem::path& folder);

  /// What it was compiled to, for the last values; where extents are open and it was not called,
  /// for any number of items. The error says why it is not compiled before a call.
  llvm::Expected<program::Explanation> explain();
  /// What becomes of open extents, for the same: taken in a run, the explanation is then of one
  /// item, or compiled for, and why. Empty where none are open.
  std::string openExtents();

private:
  CallableProgram() = default;

  struct Version {
    Shapes shapes; ///< of the arguments; empty where none is open
    Prepared prepared;
  };
  /// One for any number of items.
  struct ForItems {
    Shapes shapes;               ///< of the arguments, kItems where an extent is their number
    std::vector<Result> results; ///< their shapes are below
    std::vector<std::vector<program::BatchExtent>> resultShapes;
    program::ItemRange items;
    std::int64_t asserted; ///< items that the program asserts
    std::shared_ptr<program::Executable> executable;
  };
  llvm::Expected<Prepared> compiled(mlir::OwningOpRef<mlir::ModuleOp> module) const;
  /// For as few items as the program asserts, but no fewer than `least`.
  llvm::Expected<ForItems> compiledForItems(const Shapes& shapes, std::int64_t least);
  /// The types of its results where the arguments of its function have such shapes.
  llvm::Expected<std::vector<Result>> close(mlir::ModuleOp module, const Shapes& shapes) const;
  /// The tensor of a bound value that is not in memory, read once.
  llvm::Expected<program::Value> wholeValue(std::size_t argument, const program::Value& unread);
  /// Reads the bound values that the executable does not take unread.
  llvm::Error readForFolder(const program::Executable& executable);
  /// Kept or made, for such shapes.
  llvm::Expected<const ForItems*> ofItems(const Shapes& shapes);
  llvm::Expected<std::optional<Prepared>> preparedForItems(const Shapes& shapes, std::string& why);
  /// Of the arguments of an open program before it is called; the error is an extent that is open
  /// besides the number of items.
  llvm::Expected<Shapes> shapesForItems() const;
  llvm::Expected<std::shared_ptr<program::Executable>>
  executableToSave(program::Signature& signature);

  std::shared_ptr<mlir::MLIRContext> context;
  ProgramFile file;
  const Backend* backend = nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> unchanged; ///< null: its dots are quantized
  mlir::OwningOpRef<mlir::ModuleOp> decided;   ///< what is compiled
  std::string functionName;
  std::vector<program::Argument> taken;
  std::vector<Result> given;
  std::vector<program::Donation> donations;
  std::optional<transforms::DotReport> report;
  std::optional<transforms::DropReport> dropReport;
  std::vector<transforms::MissedDots> missedDots;
  std::vector<std::string> told;
  std::vector<transforms::CalibratedSide> probedSides;
  std::vector<std::optional<program::Value>> bound;
  std::mutex readingWhole;
  std::map<std::size_t, program::Value> wholeValues; ///< of those that are bound unread
  bool isOpen = false;
  std::timed_mutex usingContext; ///< it is one thread's at a time
  std::list<Version> versions;   ///< the last used first
  std::list<ForItems> forItems;  ///< likewise
  std::string whyNotForItems;    ///< why there are no more of them; empty: there may be
  /// Shapes for which none could be made when files were bound, and why.
  std::optional<std::pair<Shapes, std::string>> refusedForItems;
  mlir::OwningOpRef<mlir::ModuleOp> assertions; ///< on extents (assertionsOf)
};

} // namespace octavo::session
