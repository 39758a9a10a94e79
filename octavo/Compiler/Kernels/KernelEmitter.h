// Emits the code of a kernel: elements (KernelElements.cpp), and the loops that compute them
// (Kernel.cpp).
#pragma once

#include "octavo/Compiler/Kernels/FunctionCode.h"
#include "octavo/Compiler/Kernels/Kernel.h"
#include "octavo/Compiler/Kernels/Members.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Indexing.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace octavo::compiler {

/// A reduction whose code is being emitted.
struct Sums {
  stablehlo::ReduceOp op;
  Combination combination;
  llvm::SmallVector<llvm::Value*> first, results; ///< of each input: initial value, result
  llvm::SmallVector<llvm::Value*> begun, next;    ///< carried by a loop: before, after
  llvm::SmallVector<llvm::PHINode*> running;

  explicit Sums(stablehlo::ReduceOp op)
      : op(op), combination(op.getBody(), op.getInputs().getTypes(), op->getResultTypes(), false) {}
};

/// Emits one kernel.
class KernelEmitter : public FunctionCode {
public:
  explicit KernelEmitter(const Kernel& kernel, Overwriting given = {})
      : kernel(kernel), over(std::move(given)) {
    for (const auto& [stored, argument] : over)
      overwritten[argument] = {};
  }

  KernelCode emit();
  /// Arguments that the code reads at other indices than it writes over them, or after that.
  const llvm::DenseSet<mlir::Value>& spoiled() const { return found; }

private:
  const Kernel& kernel;
  const Overwriting over;
  struct Overwritten {
    llvm::SmallVector<Index> reads;
    bool isWritten = false;
  };
  llvm::DenseMap<mlir::Value, Overwritten> overwritten;
  llvm::DenseSet<mlir::Value> found;

  /// By member: the phase in which it can be computed, or runs if it is a reduction.
  llvm::DenseMap<mlir::Operation*, int> phases;
  llvm::DenseSet<mlir::Operation*> ofRows; ///< computed once for each row
  int phaseCount = 0;
  int phase = 0;
  bool isInColumns = false;
  /// If rows are taken in blocks: the variable that counts blocks, and the rows of a block.
  std::optional<int> block;
  std::int64_t rowsOfBlock = 0;
  llvm::DenseMap<mlir::Value, llvm::Value*> rowValues, columnValues;
  llvm::DenseMap<mlir::Value, llvm::AllocaInst*> kept;
  llvm::DenseSet<std::pair<mlir::Operation*, int>> planned; ///< visited by planKept
  /// By concatenation: a place along its axis, in the one input that the loop reads.
  llvm::DenseMap<mlir::Operation*, std::int64_t> partRead;

  Index row() const {
    return block ? Index::variable(*block, kernel.rows / rowsOfBlock) * rowsOfBlock +
                       Index::variable(kRow, rowsOfBlock)
                 : Index::variable(kRow, kernel.rows);
  }
  Index place() const { return row() * kernel.columns + Index::variable(kColumn, kernel.columns); }
  bool isMember(mlir::Value value) const {
    return value.getDefiningOp() != nullptr && kernel.members.contains(value.getDefiningOp());
  }
  static bool isReduction(mlir::Operation* op) { return llvm::isa<stablehlo::ReduceOp>(op); }

  void collectArguments(mlir::Value value, llvm::DenseSet<mlir::Value>& seen);
  void planPhases();
  void planKept(mlir::Operation* member, int atPhase);
  bool isDearToRepeat(mlir::Value value) const;

  llvm::Value* element(mlir::Value value, const Index& linear) override;
  llvm::Value* member(mlir::Operation* op, mlir::Value result, const Index& linear);
  llvm::Value* compute(mlir::Operation* op, const Index& linear);
  llvm::Value* ofConcatenate(stablehlo::ConcatenateOp op, const Index& linear);
  llvm::Value* ofPad(stablehlo::PadOp op, const Index& linear);
  llvm::Value* ofDynamicSlice(stablehlo::DynamicSliceOp op, const Index& linear);
  llvm::Value* ofGather(stablehlo::GatherOp op, const Index& linear);
  Index clampedStart(mlir::Value starts, const Index& linear, std::int64_t largest);
  Sums begun(stablehlo::ReduceOp op);
  static Index placeIn(stablehlo::ReduceOp op, mlir::Value input, const Index& row,
                       const Index& column, Variables& variables);
  llvm::SmallVector<llvm::Value*> elementsOf(const Sums& sums);
  void finish(const Sums& sums);

  bool readsAcrossRows();
  void emitAcrossRows();
  void emitRow();
  void emitRowMembers(int upTo);
  void emitColumns();
  llvm::SmallVector<stablehlo::ConcatenateOp> joinedColumns();
  template <typename Loop> void loopOverParts(Loop loop);
  void storeIfAsked(mlir::Value value, llvm::Value* computed, const Index& linear);
  template <typename Body> void loop(llvm::Value* begin, llvm::Value* end, Body body);
  template <typename Body> void plainLoop(llvm::Value* begin, llvm::Value* end, Body body);
  template <typename Body>
  void loopOverRanges(llvm::Value* begin, llvm::Value* end, std::int64_t step, Body body);
};

} // namespace octavo::compiler
