// How a function becomes steps, operation by operation: what Lowering.cpp and the sources
// Lower*.cpp share.
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

/// The error of an operation that a program cannot be compiled with.
llvm::Error refusal(mlir::Operation* op, const llvm::Twine& why);

/// Gives slots that are not in use at the same time the same memory, and says how much all take:
/// the largest first, each at the lowest offset that is free for as long as it is in use. Behind
/// each are `guard` bytes.
program::BatchExtent layOut(llvm::MutableArrayRef<SlotUse*> slots, std::size_t guard);

/// Numbers that do not depend on items.
std::vector<program::BatchExtent> itemNumbers(llvm::ArrayRef<std::int64_t> numbers);

class FunctionLowering {
public:
  FunctionLowering(mlir::func::FuncOp function, Evaluate evaluate, Guarding guarding)
      : function(function), evaluate(evaluate) {
    if (guarding == Guarding::Slots)
      program.guards = std::make_shared<program::Guards>();
  }

  llvm::Expected<Lowered> lower();

private:
  mlir::func::FuncOp function;
  Evaluate evaluate;
  program::Program program;
  std::vector<std::string> kernels;
  llvm::StringMap<std::size_t> kernelNumbers; ///< by their texts
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseSet<mlir::Value> sharing; ///< values of loops whose place other values have, too
  llvm::DenseMap<int, int> kept;       ///< slots that loops carry: where each is written first
  llvm::DenseMap<int, int> copies;     ///< of them, those that begin as a copy: of which slot
  llvm::DenseSet<int> swapped;         ///< those that loops swap, which are nobody's result
  llvm::DenseMap<mlir::Operation*, int> packed; ///< of quantizations that are packed for products
  llvm::DenseMap<mlir::Operation*, program::OperationTextPtr> texts;
  DonatedResults donated;
  /// What bodies of loops hand on, by the argument of the body whose turn comes next.
  llvm::DenseMap<mlir::Value, mlir::BlockArgument> handedOn;
  struct Overwriter { ///< a kernel that may write results over donated arguments
    program::KernelStep* step;
    Kernel kernel;
    Overwriting over;
    int position;
  };
  std::vector<Overwriter> overwriters;
  std::vector<int> usedSlotNumbers; ///< of each use of a slot
  int position = 0;                 ///< of the next step
  llvm::DenseMap<const program::Step*, int>
      positions;            ///< of steps, but links and kernels of products
  int link = 0;             ///< of the next link of a chain
  std::optional<int> token; ///< the place of all tokens
  struct CalledFunction {
    const program::FunctionStep* step = nullptr;
    std::size_t firstSlot = 0, endSlot = 0; ///< its own
  };
  std::map<llvm::StringRef, CalledFunction> calledFunctionsByName;
  std::size_t calledSlots = 0; ///< of all of them, before those of the function itself
  static constexpr int kAlways = std::numeric_limits<int>::max();

  Place newPlace(mlir::Type type);
  llvm::Expected<Place> placeOf(mlir::Value value);
  /// The place of a value that the next step reads or writes.
  llvm::Expected<Place> used(mlir::Value value);
  llvm::Expected<std::vector<Place>> used(mlir::ValueRange values);
  llvm::Expected<Slot> usedSlot(mlir::Value value);
  llvm::Expected<std::vector<Slot>> usedSlots(mlir::ValueRange values);
  llvm::Expected<program::StartIndex> startIndex(mlir::Value index);
  llvm::Expected<program::IndexedSlice> sliceChoice(const IndexedSlices& choices);
  SlotUse& slot(Slot number) { return program.slots[static_cast<std::size_t>(number.number)]; }
  SlotUse& slot(const Place& place) { return slot(Slot{place.number}); }
  void keep(const Place& place) {
    if (!place.memory)
      return;
    SlotUse& use = slot(place);
    kept.try_emplace(place.number, use.first);
    use.first = 0, use.last = kAlways;
  }
  const program::OperationTextPtr& text(mlir::Operation* op);
  void add(Sequence& sequence, std::unique_ptr<program::Step> step) {
    if (program.guards)
      step = std::make_unique<program::GuardedStep>(std::move(step), position, program.guards);
    positions[step.get()] = position;
    sequence.add(std::move(step));
    ++position;
  }

  llvm::Error block(mlir::Block& block, Sequence& sequence);
  using RowStepPtr = std::unique_ptr<program::RowStep>;
  using ProductStepPtr = std::unique_ptr<program::ProductStep>;
  void overwriteCarried(std::vector<Chain>& chains);
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
  /// Has what is computed in f64 and rounded once, of floats narrower than f32, be of f64.
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
  /// `reason` says why there is no code.
  llvm::Error interpret(mlir::Operation* op, Sequence& sequence, std::string reason);
  llvm::Error results();
  void overwriteDonated();
  void layOutArena();
  llvm::Error checkPlan() const;
};

} // namespace octavo::compiler
