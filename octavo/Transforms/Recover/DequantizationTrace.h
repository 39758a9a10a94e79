// Traces a wide tensor to the codes and scales that the program dequantizes by hand to compute it.
#pragma once

#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Transforms/Recover/KnownScales.h"
#include "octavo/Transforms/Shapes/OpenShapes.h"
#include "octavo/Transforms/Walks/NarrowReach.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace octavo::transforms {

using Extents = llvm::SmallVector<std::int64_t>;

/// Appends `more` to a note, unless it is already there or the note is long: a product of many
/// scales would add a note for each.
inline void addNote(std::string& note, const std::string& more) {
  constexpr std::size_t kLongestNote = 1000;
  if (note.size() < kLongestNote && note.find(more) == std::string::npos)
    note += (note.empty() ? "" : ", and ") + more;
}

/// value[i] = elements[i] * scales[i / block] * outer. On an open axis (`?`) a block is one index,
/// or spans the axis: `?`.
struct Dequantized {
  mlir::Value elements;    ///< codes, in the tensor's shape
  mlir::Value scales = {}; ///< the grid of scales, of the tensor's rank, extent 1 where a block
                           ///< spans an axis; null: all scales are 1
  Extents block = {};      ///< extents of a block
  mlir::Value outer = {};  ///< tensor<f32>; null: 1
  std::string note = {};   ///< how the values differ from the program's; mostly empty
  const format::ElementFormat* format =
      elements ? elementFormatOf(elements) : nullptr; ///< format of the codes

  /// Adds to the note that zeros replace values, whose scales stay.
  void noteZeros();
};

/// The first operation, from the dot upward, that prevents a tensor from being Dequantized.
struct Obstacle {
  mlir::Operation* op;
  std::string reason; ///< "adds to the dequantized values"
  std::string remedy; ///< "add after the dot"
};

/// monostate: the tensor does not come from a narrow one.
using DequantizationTrace = std::variant<std::monostate, Dequantized, Obstacle>;

/// The number that all elements equal, if constants, broadcasts and conversions show it.
std::optional<double> splatNumber(mlir::Value value);

/// Whether two values are computed by the same operations from the same values. False after
/// comparing a thousand operations.
bool areSame(mlir::Value a, mlir::Value b);

/// Whether blocks of extents `block` give every element of `shape` a scale.
bool isForEach(llvm::ArrayRef<std::int64_t> shape, llvm::ArrayRef<std::int64_t> block);

/// Whether a tensor in such blocks has fewer scales than elements, or is one element, row or
/// column. A scale for each element is not a block format.
bool isInBlocks(llvm::ArrayRef<std::int64_t> shape, llvm::ArrayRef<std::int64_t> block);

/// Computes the blocks of a reshape's result from those of its operand, both of known extents. The
/// axes of both shapes fall into groups of equal size. In a group, leading axes must have block
/// extent 1 and trailing ones span the axis; the one between is free. False if a block would not
/// stay whole.
bool reshapeBlocks(llvm::ArrayRef<std::int64_t> from, llvm::ArrayRef<std::int64_t> fromBlock,
                   llvm::ArrayRef<std::int64_t> to, Extents& blocks);

/// The scaled tensor of these parts, by octavo.pack at the builder's insertion point, where they
/// must be defined.
mlir::Value packed(mlir::OpBuilder& builder, mlir::Location location, const Dequantized& parts);

/// Traces values upward. Data movement of a dequantized tensor is repeated on its codes and scales
/// by new operations beside it. The destructor erases those that nothing uses.
class DequantizationTraces {
public:
  DequantizationTraces() = default;
  DequantizationTraces(const DequantizationTraces&) = delete;
  DequantizationTraces& operator=(const DequantizationTraces&) = delete;
  ~DequantizationTraces();

  /// The trace of a value; traces are cached.
  DequantizationTrace of(mlir::Value value);
  /// Declares that `value` has these parts, without a trace.
  void take(mlir::Value value, Dequantized parts) { known[value] = std::move(parts); }

  /// Whether `value` is computed from codes of a narrow format (NarrowReach.h).
  bool comesFromNarrow(mlir::Value value) { return reach.covers(value); }
  /// As comesFromNarrow, but E8M0 scales count, too.
  bool comesFromNarrowOrScales(mlir::Value value) { return reachOfScales.covers(value); }

private:
  struct Move;

  /// A tensor with one value a block: tensor[i] = value[i / block], block as in Dequantized.
  struct Grid {
    mlir::Value value;
    Extents block;
  };

  llvm::SmallVector<mlir::Value> madeOf(mlir::Value value);
  DequantizationTrace find(mlir::Value value);
  DequantizationTrace traced(mlir::Value value);
  DequantizationTrace scaled(mlir::Operation* op, mlir::Value codes, mlir::Value factor,
                             bool isDivided);
  DequantizationTrace combined(mlir::Operation* op, Dequantized parts, Grid grid);
  std::variant<Grid, Obstacle> fewerScales(mlir::Operation* op, mlir::Value factor, bool isDivided);
  DequantizationTrace scaledIntegers(mlir::Operation* op, unsigned side);
  DequantizationTrace integers(mlir::Value value, double& factor);
  std::optional<Dequantized> decoded(mlir::Value value);
  DequantizationTrace moved(mlir::Operation* op, const Dequantized& parts);
  DequantizationTrace movedBy(stablehlo::TransposeOp transpose, Move& move);
  DequantizationTrace movedBy(stablehlo::ReverseOp reverse, Move& move);
  DequantizationTrace negated(mlir::Operation* op, const Dequantized& parts);
  DequantizationTrace laidOut(mlir::Operation* op, const Dequantized& parts);
  mlir::Value laidOutAs(mlir::Operation* op, mlir::Value part);
  DequantizationTrace movedBy(stablehlo::SliceOp slice, Move& move);
  DequantizationTrace movedBy(stablehlo::RealDynamicSliceOp slice, Move& move);
  DequantizationTrace movedBy(stablehlo::DynamicSliceOp slice, Move& move);
  DequantizationTrace movedBy(stablehlo::SelectOp select, Move& move);
  DequantizationTrace movedBy(stablehlo::PadOp pad, Move& move);
  DequantizationTrace movedBy(stablehlo::GatherOp gather, Move& move);
  DequantizationTrace movedBy(stablehlo::DynamicGatherOp gather, Move& move);
  DequantizationTrace gathered(Move& move, stablehlo::GatherDimensionNumbersAttr numbers,
                               llvm::ArrayRef<std::int64_t> sizes, mlir::Value operand);
  mlir::Value movedElements(Move& move);
  DequantizationTrace reshapedParts(Move& move);
  DequantizationTrace broadcastParts(Move& move);
  DequantizationTrace updated(stablehlo::DynamicUpdateSliceOp update);
  DequantizationTrace communicated(mlir::Operation* op, unsigned result);
  void exchange(mlir::Operation* op, Dequantized& parts, bool withScales,
                llvm::ArrayRef<std::int64_t> elements, llvm::ArrayRef<std::int64_t> grid);
  DequantizationTrace concatenated(mlir::Operation* op);
  DequantizationTrace dequantized(mlir::Operation* call);
  DequantizationTrace unpacked(ir::DequantizeOp op);
  /// Whether a select keeps its first arm and replaces elements by a number in the second; else the
  /// other way around.
  static bool movesFirstArm(stablehlo::SelectOp select);

  std::optional<Grid> gridOf(mlir::Value value);
  std::optional<Grid> findGrid(mlir::Value value);
  std::optional<Grid> computed(mlir::Operation* op);
  mlir::Value asE8m0(mlir::OpBuilder& builder, mlir::Location location, mlir::Value scales,
                     Dequantized& noted);
  mlir::Value asE8m0(mlir::OpBuilder& builder, mlir::Location location, mlir::Value codes,
                     bool isReciprocal);
  mlir::Value movedBy(llvm::ArrayRef<mlir::Operation*> moves, mlir::OpBuilder& builder,
                      mlir::Value value);
  mlir::Value inverse(mlir::OpBuilder& builder, mlir::Location location, mlir::Value scales);
  std::optional<Dequantized> scaledByExponents(mlir::Operation* op);
  static Grid repeated(OpenShapes& shapes, const Grid& grid, mlir::Value from, std::size_t first,
                       std::size_t end);
  std::optional<Grid> reshaped(mlir::OpBuilder& builder, mlir::Operation* op, const Grid& grid,
                               mlir::Value from);
  std::optional<Grid> broadcast(mlir::OpBuilder& builder, mlir::Operation* op, const Grid& grid,
                                mlir::Value from);
  std::optional<Grid> sliced(mlir::OpBuilder& builder, stablehlo::SliceOp slice, const Grid& grid);

  template <typename Op, typename... Operands>
  Op make(mlir::OpBuilder& builder, Operands&&... operands) {
    Op op = Op::create(builder, std::forward<Operands>(operands)...);
    made.push_back(op);
    return op;
  }
  mlir::Value toF32(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value);
  mlir::Value scalar(mlir::OpBuilder& builder, mlir::Location location, mlir::Value one);
  /// `number` as tensor<f32>; null if it is 1.
  mlir::Value outerScale(mlir::OpBuilder& builder, mlir::Location location, double number);
  /// A tensor of the shape of `like` with one number in every element.
  mlir::Value filled(mlir::OpBuilder& builder, mlir::Location location, mlir::Attribute number,
                     mlir::Type element, mlir::Value like);

  llvm::DenseMap<mlir::Value, DequantizationTrace> known;
  llvm::DenseMap<mlir::Value, std::optional<Grid>> grids;
  KnownScales numbers;
  NarrowReach reach, reachOfScales{Narrow::CodesAndScales};
  std::vector<mlir::Operation*> made;
};

} // namespace octavo::transforms
