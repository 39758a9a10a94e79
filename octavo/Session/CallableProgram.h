// A program that is called with values in memory, like a function: prepared (Preparation.h), its
// weights bound, and compiled. Implements Python's `octavo.compile`.
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

/// A callable program. Any number of threads may call it at once.
class CallableProgram : public std::enable_shared_from_this<CallableProgram> {
public:
  using Result = program::Result;

  /// Makes a callable program. `program` must belong to `context`, which no other thread may use.
  /// Fails like prepareProgram, argumentsOf and the backend, if a result is not a tensor, and if
  /// the program is for several processes.
  static llvm::Expected<std::unique_ptr<CallableProgram>>
  make(std::shared_ptr<mlir::MLIRContext> context, ProgramFile program, const Backend& backend,
       const PreparationOptions& options);

  const std::string& name() const { return functionName; }
  const std::vector<program::Argument>& arguments() const { return taken; }
  const std::vector<Result>& results() const { return given; }
  /// What happened to the dots; empty without PreparationOptions::dots.
  const std::optional<transforms::DotReport>& dots() const { return report; }
  /// What happened to scales; empty without PreparationOptions::dropsScales.
  const std::optional<transforms::DropReport>& dropped() const { return dropReport; }
  /// The probed operands; empty without PreparationOptions::probes.
  const std::vector<transforms::CalibratedSide>& probed() const { return probedSides; }

  /// The dots that multiply wide values decoded from narrow ones. Not searched for if extents are
  /// open.
  const std::vector<transforms::MissedDots>& missed() const { return missedDots; }

  /// Other warnings for the user, one line each: dots that were recovered with different values,
  /// caches that stay wide although a rule gives them a format, and scatters partly out of bounds.
  const std::vector<std::string>& warnings() const { return told; }

  /// The widths of all dots, as compiled (findDotWidths).
  llvm::Expected<DotWidths> dotWidths();

  /// Whether the program donates an argument to a result.
  bool isDonated(std::size_t argument, std::size_t result) const {
    return std::ranges::find(donations, program::Donation{argument, result}) != donations.end();
  }

  /// Binds an argument to a value for all calls, before the first call. The value must fit the
  /// argument.
  void bind(std::size_t argument, program::Value value);
  /// Why files are bound.
  enum class BoundFor : std::uint8_t {
    Calls, ///< calls follow: files are read now
    Folder ///< only save() follows: it reads the files, one weight at a time
  };
  /// Binds arguments to tensors of files (bindNamed). They are read straight into packed forms if
  /// the executable uses nothing else. If the batch is open, the program is compiled for any batch
  /// size now; if that is not possible, the tensors stay in memory beside their packed forms.
  llvm::Error bindFiles(Sources sources, BoundFor use = BoundFor::Calls);
  bool isBound(std::size_t argument) const { return bound[argument].has_value(); }
  /// The value of a bound argument.
  const program::Value& value(std::size_t argument) const { return *bound[argument]; }

  /// The executable for values, one per argument, and its result types. If extents are open, the
  /// executable is compiled for any batch size, the first extent of the open arguments. If that is
  /// not possible, it is compiled for the extents of the values. It is kept for later calls.
  struct Prepared {
    std::vector<Result> results;
    std::shared_ptr<program::Executable> executable;
    bool isInterpreted = false; ///< in part or as a whole; such runs take turns
  };
  llvm::Expected<Prepared> prepare(std::span<const program::Value> values) {
    return prepare(shapesOf(values));
  }
  /// The same for values of these shapes (shapesOf).
  llvm::Expected<Prepared> prepare(const Shapes& shapes);
  /// The shapes on which compilation depends: those of the values if extents are open, else none.
  Shapes shapesOf(std::span<const program::Value> values) const;
  /// The result of prepare(), if it is kept and no other thread is compiling the program. nullopt
  /// otherwise: prepare() may then take as long as a compilation.
  std::optional<Prepared> kept(const Shapes& shapes);

  /// Runs the program. `values` has one value per argument, including bound ones. A result may lie
  /// in the memory of an argument, from the first byte to the last.
  llvm::Expected<std::vector<program::Value>> call(const Prepared& prepared,
                                                   std::vector<program::Value> values,
                                                   const program::RunContext& host,
                                                   program::ResultMemory memory);

  /// The errors of the program's dots if they are quantized as options.dots says. `values` are as
  /// for `call`. The backend is set by this function. Fails like session::dotErrors, and if the
  /// program was made with its dots quantized.
  llvm::Expected<DotErrors> dotErrors(std::span<const program::Value> values,
                                      DotErrorOptions options);

  /// Writes the program and its bound values to a folder (program::Savable). It must not be called
  /// afterwards. A program with an open batch is written for any batch size; fails if other extents
  /// are open, or if it cannot be compiled for all batch sizes at once.
  llvm::Error save(const std::filesystem::path& folder);

  /// Explains the executable of the last call; before any call, if extents are open, the one for
  /// any batch size. The error says why there is none before a call.
  llvm::Expected<program::Explanation> explain();
  /// How open extents are handled by the same executable, in words: any batch size, or compiled for
  /// each set of extents and why. Empty if none are open.
  std::string openExtents();

private:
  CallableProgram() = default;

  struct Version {
    Shapes shapes; ///< of the arguments; empty if none is open
    Prepared prepared;
  };
  /// An executable for any batch size.
  struct ForItems {
    Shapes shapes;               ///< of the arguments; kItems marks the batch size
    std::vector<Result> results; ///< with shapes in `resultShapes`
    std::vector<std::vector<program::BatchExtent>> resultShapes;
    program::ItemRange items;
    std::int64_t asserted; ///< smallest batch size by the program's assertions
    std::shared_ptr<program::Executable> executable;
  };
  /// Compiles a module whose extents are all known.
  llvm::Expected<Prepared> compiled(mlir::OwningOpRef<mlir::ModuleOp> module) const;
  /// Compiles for the smallest batch size that the program asserts, but at least `least`, and all
  /// larger ones.
  llvm::Expected<ForItems> compiledForItems(const Shapes& shapes, std::int64_t least);
  /// Sets the extents of the function's arguments, and returns its result types.
  llvm::Expected<std::vector<Result>> close(mlir::ModuleOp module, const Shapes& shapes) const;
  /// The tensor of a bound unread value, read once.
  llvm::Expected<program::Value> wholeValue(std::size_t argument, const program::Value& unread);
  /// Reads the bound values that the executable cannot take unread.
  llvm::Error readForFolder(const program::Executable& executable);
  /// The kept executable for these shapes, or a new one.
  llvm::Expected<const ForItems*> ofItems(const Shapes& shapes);
  llvm::Expected<std::optional<Prepared>> preparedForItems(const Shapes& shapes, std::string& why);
  /// The shapes of an open program's arguments before it is called. Fails if an extent other than
  /// the batch is open.
  llvm::Expected<Shapes> shapesForItems() const;
  llvm::Expected<std::shared_ptr<program::Executable>>
  executableToSave(program::Signature& signature);

  std::shared_ptr<mlir::MLIRContext> context;
  ProgramFile file;
  const Backend* backend = nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> unchanged; ///< before quantization; null: it was quantized
  mlir::OwningOpRef<mlir::ModuleOp> decided;   ///< the prepared program, which is compiled
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
  std::map<std::size_t, program::Value> wholeValues; ///< of bound unread values
  bool isOpen = false;
  std::timed_mutex usingContext; ///< held while the context is used
  std::list<Version> versions;   ///< most recently used first
  std::list<ForItems> forItems;  ///< most recently used first
  std::string whyNotForItems;    ///< why no more can be made; empty: they can
  /// Shapes for which none could be made when files were bound, and the reason.
  std::optional<std::pair<Shapes, std::string>> refusedForItems;
  mlir::OwningOpRef<mlir::ModuleOp> assertions; ///< assertions on extents (assertionsOf)
};

} // namespace octavo::session
