// Lowers a function to steps, operation by operation. Lowering.cpp and the sources Lower*.cpp share
// this class.
#pragma once

#include "octavo/Compiler/Kernels/Scatter.h"
#include "octavo/Compiler/Plan/InPlace.h"
#include "octavo/Compiler/Plan/Lowering.h"
#include "octavo/Compiler/Plan/RowTiles.h"
#include "octavo/Dialect/StableHLO/Complex.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Dialect/StableHLO/LinearAlgebra.h"
#include "octavo/Dialect/StableHLO/Random.h"
#include "octavo/Dialect/StableHLO/Sort.h"
#include "octavo/Program/Steps/Call.h"
#include "octavo/Program/Steps/Kernel.h"
#include "octavo/Program/Steps/Products/Product.h"
#include "octavo/Program/Steps/Products/ScaledParts.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <limits>
#include <map>

namespace octavo::compiler {

using program::Place;
using program::Sequence;
using program::Slot;
using program::SlotUse;

/// The error for an operation that cannot be compiled: its location, its name and `why`.
llvm::Error refusal(mlir::Operation* op, const llvm::Twine& why);

/// Places slots in one piece of memory and returns its size in bytes. Slots that are in use at the
/// same time do not overlap. The largest slot goes first, each to the lowest offset that is free.
/// After each slot are `guard` unused bytes.
program::BatchExtent layOut(llvm::MutableArrayRef<SlotUse*> slots, std::size_t guard);

/// The same numbers, as extents that do not depend on the batch size.
std::vector<program::BatchExtent> itemNumbers(llvm::ArrayRef<std::int64_t> numbers);

/// The lowering of one function. Positions number the steps; the use of a slot lasts from a first
/// to a last position.
class FunctionLowering {
public:
  FunctionLowering(mlir::func::FuncOp function, Evaluate evaluate, Guarding guarding)
      : function(function), evaluate(evaluate) {
    if (guarding == Guarding::Slots)
      program.guards = std::make_shared<program::Guards>();
  }

  /// Fails as compiler::lower does.
  llvm::Expected<Lowered> lower();

private:
  mlir::func::FuncOp function;
  Evaluate evaluate;
  program::Program program;
  std::vector<std::string> kernels;
  llvm::StringMap<std::size_t> kernelNumbers; ///< by kernel text: its index in `kernels`
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseSet<mlir::Value> sharing; ///< values of loops that share a place with others
  llvm::DenseMap<int, int> kept;       ///< slots that loops carry: position of the first write
  llvm::DenseMap<int, int> copies;     ///< carried slots that begin as a copy: of which slot
  llvm::DenseSet<int> swapped;         ///< slots that loops exchange; they cannot be results
  llvm::DenseMap<mlir::Operation*, int> packed; ///< by quantization: its packed operand
  llvm::DenseMap<mlir::Operation*, program::OperationTextPtr> texts;
  DonatedResults donated;
  /// Values that the body of a loop passes on, with the argument that receives each in the next
  /// iteration.
  llvm::DenseMap<mlir::Value, mlir::BlockArgument> handedOn;
  struct Overwriter { ///< a kernel that may write results over donated arguments
    program::KernelStep* step;
    Kernel kernel;
    Overwriting over;
    int position;
  };
  std::vector<Overwriter> overwriters;
  std::vector<int> usedSlotNumbers; ///< one entry for each use of a slot
  int position = 0;                 ///< of the next step
  llvm::DenseMap<const program::Step*, int>
      positions;            ///< of each step, except links and kernels of products
  int link = 0;             ///< number of the next link of the chain
  std::optional<int> token; ///< the place of all tokens
  struct CalledFunction {
    const program::FunctionStep* step = nullptr;
    std::size_t firstSlot = 0, endSlot = 0; ///< its slots
  };
  std::map<llvm::StringRef, CalledFunction> calledFunctionsByName;
  std::size_t calledSlots = 0; ///< slots of all called functions, which come first
  static constexpr int kAlways = std::numeric_limits<int>::max();

  /// A new slot for a static tensor whose elements have a type in memory; else a new value.
  Place newPlace(mlir::Type type);
  /// The place of a value: known or new. The place of a constant is a slot with its elements.
  llvm::Expected<Place> placeOf(mlir::Value value);
  /// The place of a value that the next step reads or writes. Extends the use of its slot.
  llvm::Expected<Place> used(mlir::Value value);
  llvm::Expected<std::vector<Place>> used(mlir::ValueRange values);
  llvm::Expected<Slot> usedSlot(mlir::Value value);
  llvm::Expected<std::vector<Slot>> usedSlots(mlir::ValueRange values);
  llvm::Expected<program::StartIndex> startIndex(mlir::Value index);
  llvm::Expected<program::IndexedSlice> sliceChoice(const IndexedSlices& choices);
  SlotUse& slot(Slot number) { return program.slots[static_cast<std::size_t>(number.number)]; }
  SlotUse& slot(const Place& place) { return slot(Slot{place.number}); }
  /// Keeps a slot in use for the whole program, and records its first write in `kept`.
  void keep(const Place& place) {
    if (!place.memory)
      return;
    SlotUse& use = slot(place);
    kept.try_emplace(place.number, use.first);
    use.first = 0, use.last = kAlways;
  }
  const program::OperationTextPtr& text(mlir::Operation* op);
  /// Appends a step at the next position; a guarded run wraps it.
  void add(Sequence& sequence, std::unique_ptr<program::Step> step) {
    if (program.guards)
      step = std::make_unique<program::GuardedStep>(std::move(step), position, program.guards);
    positions[step.get()] = position;
    sequence.add(std::move(step));
    ++position;
  }

  /// Rewrites the operations of a block to forms that kernels take, and lowers them to steps.
  llvm::Error block(mlir::Block& block, Sequence& sequence);
  using RowStepPtr = std::unique_ptr<program::RowStep>;
  using ProductStepPtr = std::unique_ptr<program::ProductStep>;
  void overwriteCarried(std::vector<Chain>& chains);
  /// Lowers a chain to one ChainStep, or to single steps if its rows are not cut.
  llvm::Error chain(const Chain& chain, Sequence& sequence);
  llvm::Expected<std::vector<RowStepPtr>> rowSteps(const Node& node);
  std::size_t numberOf(const KernelCode& code);
  bool canBeOverwritten(mlir::Value value, mlir::Operation* op, const Place& place);
  llvm::Expected<std::unique_ptr<program::KernelStep>> kernel(const Node& node);
  llvm::Expected<ProductStepPtr> matrices(const Node& node);
  llvm::Expected<ProductStepPtr> convolution(mlir::Operation* op, const PatchProduct& product);
  llvm::Expected<RowStepPtr> quantization(ir::QuantizeOp op);
  llvm::Expected<program::PartSlots> partSlots(mlir::ValueRange parts);
  llvm::Expected<std::optional<program::RowGroups>>
  rowGroups(const std::optional<RowGroups>& groups);
  llvm::Expected<RowStepPtr> pack(mlir::Operation* op, const ScaledProduct& product, int number);
  llvm::Expected<ProductStepPtr> scaled(mlir::Operation* op, const ScaledProduct& product,
                                        std::vector<RowStepPtr>& steps);
  llvm::Error operation(mlir::Operation* op, Sequence& sequence);
  llvm::Error loop(stablehlo::WhileOp op, Sequence& sequence);
  llvm::Error branch(mlir::Operation* op, Sequence& sequence);
  llvm::Error calledFunctions();
  llvm::Error calledFunction(mlir::func::FuncOp callee);
  llvm::Error call(mlir::func::CallOp op, Sequence& sequence);
  std::vector<SlotUse> layOutCalled();
  void placeCalled(llvm::ArrayRef<SlotUse> frames);
  llvm::Expected<program::UpdateStep::Box> boxOf(stablehlo::DynamicUpdateSliceOp op);
  llvm::Error update(stablehlo::DynamicUpdateSliceOp op, Sequence& sequence);
  llvm::Error scatter(stablehlo::ScatterOp op, Sequence& sequence);
  llvm::Error scatter(stablehlo::SelectAndScatterOp op, Sequence& sequence);
  llvm::Error write(mlir::Operation* op, const WritingCode& written, Sequence& sequence);
  llvm::Error sort(stablehlo::SortOp op, Sequence& sequence);
  llvm::Error randomBits(stablehlo::RngBitGeneratorOp op, Sequence& sequence);
  /// Computes factorizations and triangular solves of floats that are neither f32 nor f64 in f64,
  /// and rounds the result once.
  static void widen(mlir::Block& block);
  llvm::Error cholesky(stablehlo::CholeskyOp op, Sequence& sequence);
  llvm::Error triangularSolve(stablehlo::TriangularSolveOp op, Sequence& sequence);
  llvm::Error fft(stablehlo::FftOp op, Sequence& sequence);
  llvm::Error running(stablehlo::ReduceWindowOp op, Sequence& sequence);
  llvm::Error quantize(ir::QuantizeOp op, Sequence& sequence);
  llvm::Error fromParts(ir::PackOp op, Sequence& sequence);
  llvm::Error dequantize(ir::DequantizeOp op, Sequence& sequence);
  llvm::Error toParts(ir::UnpackOp op, Sequence& sequence);
  llvm::Error stored(ir::DotGeneralOp op, Sequence& sequence);
  /// Adds a step that the interpreter evaluates. `reason` says why the operation has no code.
  llvm::Error interpret(mlir::Operation* op, Sequence& sequence, std::string reason);
  /// Makes the slots of the function's results Result slots; copies those that cannot be.
  llvm::Error results();
  void overwriteDonated();
  void layOutArena();
  llvm::Error checkPlan() const;
};

} // namespace octavo::compiler
