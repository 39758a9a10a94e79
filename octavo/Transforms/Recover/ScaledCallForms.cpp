#include "octavo/Transforms/Recover/ScaledCallForms.h"

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Numerics/Conversion.h"
#include "octavo/Numerics/Preset.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace octavo::transforms {

namespace {

using Axes = llvm::SmallVector<std::int64_t>;

bool hasEqualBlocks(ir::ScaledType type) {
  return llvm::all_of_zip(
      type.getShape(), type.getBlock(),
      [](std::int64_t extent, std::int64_t block) { return extent > 0 && extent % block == 0; });
}

/// Why elements fit none of XLA's forms; empty if they do.
std::string misfit(const format::ElementFormat& element) {
  if (element.isInteger())
    return "has elements of int8";
  if (element.mlir.empty())
    return "has elements that StableHLO has no type of";
  if (element.width() == 6)
    return "has elements of 6 bits, which XLA has no type of";
  return {};
}

/// Why a side fits none of XLA's forms; empty if it does.
std::string misfit(const ScaledProduct::Side& side) {
  if (side.plain)
    return {};
  if (std::string reason = misfit(*side.scaled.getElement()); !reason.empty())
    return reason;
  if (!hasEqualBlocks(side.scaled))
    return "has a short last block";
  return {};
}

mlir::ArrayAttr integers(mlir::OpBuilder& builder, llvm::ArrayRef<std::int64_t> numbers) {
  return builder.getI64ArrayAttr(numbers);
}

mlir::Value transposed(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                       llvm::ArrayRef<std::int64_t> order) {
  if (llvm::equal(order, llvm::seq<std::int64_t>(0, static_cast<std::int64_t>(order.size()))))
    return value;
  return stablehlo::TransposeOp::create(
      builder, location, typeOf(value).clone(permuted(shapeOf(value), order)), value, order);
}

/// Scales repeated to one for each index on all axes but the last.
mlir::Value spreadButLast(mlir::OpBuilder& builder, mlir::Location location, mlir::Value scales,
                          llvm::ArrayRef<std::int64_t> shape) {
  Axes grid(shape);
  grid.back() = shapeOf(scales).back();
  if (shapeOf(scales) == llvm::ArrayRef(grid))
    return scales;
  const auto axes =
      llvm::to_vector(llvm::seq<std::int64_t>(0, static_cast<std::int64_t>(grid.size())));
  return stablehlo::BroadcastInDimOp::create(builder, location, typeOf(scales).clone(grid), scales,
                                             axes);
}

/// A custom call as JAX writes XLA's block scaling: row-major layouts, API version 2.
mlir::ValueRange call(mlir::OpBuilder& builder, mlir::Location location, llvm::StringRef target,
                      mlir::ValueRange operands, mlir::TypeRange results,
                      const std::string& config) {
  const auto layout = [&](mlir::Type type) -> mlir::Attribute {
    const std::int64_t rank = llvm::cast<mlir::RankedTensorType>(type).getRank();
    llvm::SmallVector<std::int64_t> order;
    for (std::int64_t axis = rank; axis-- > 0;)
      order.push_back(axis);
    return mlir::DenseIntElementsAttr::get(
        mlir::RankedTensorType::get({rank}, builder.getIndexType()),
        llvm::ArrayRef<std::int64_t>(order));
  };
  mlir::OperationState state(location, stablehlo::CustomCallOp::getOperationName(), operands,
                             results);
  state.addAttribute("call_target_name", builder.getStringAttr(target));
  state.addAttribute(
      "api_version",
      stablehlo::CustomCallApiVersionAttr::get(
          builder.getContext(), stablehlo::CustomCallApiVersion::API_VERSION_STATUS_RETURNING));
  if (!config.empty())
    state.addAttribute("backend_config", builder.getStringAttr(config));
  state.addAttribute("operand_layouts",
                     builder.getArrayAttr(llvm::map_to_vector(operands.getTypes(), layout)));
  state.addAttribute("result_layouts", builder.getArrayAttr(llvm::map_to_vector(results, layout)));
  return builder.create(state)->getResults();
}

/// A side of a dot in the call's axis order: [B,] R, K.
struct CallSide {
  mlir::Value elements, scales, outer;
  std::int64_t block = 0; ///< along K; 0: no scales
};

std::string callMisfit(const ScaledProduct::Side& side, llvm::ArrayRef<std::int64_t> batching,
                       llvm::ArrayRef<std::int64_t> contracting) {
  const mlir::Value elements = side.plain ? side.plain : side.parts.elements;
  if (contracting.size() != 1 || batching.size() > 1 ||
      shapeOf(elements).size() != batching.size() + 2)
    return "has other axes than one contracted, one free and at most one batch axis";
  if (std::string reason = misfit(side); side.plain || !reason.empty())
    return reason;
  for (auto [axis, extent] : llvm::enumerate(side.scaled.getShape())) {
    const std::int64_t block = side.scaled.getBlock()[axis];
    if (static_cast<std::int64_t>(axis) != contracting[0] && block != 1 && block != extent)
      return "has blocks of several rows";
  }
  return {};
}

/// Converts a side for which callMisfit returned "".
CallSide callSide(mlir::OpBuilder& builder, mlir::Location location,
                  const ScaledProduct::Side& side, llvm::ArrayRef<std::int64_t> batching,
                  llvm::ArrayRef<std::int64_t> contracting) {
  const mlir::Value elements = side.plain ? side.plain : side.parts.elements;
  const std::int64_t rank = typeOf(elements).getRank();
  Axes order(batching);
  for (std::int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(batching, axis) && axis != contracting[0])
      order.push_back(axis);
  order.push_back(contracting[0]);
  CallSide result{transposed(builder, location, elements, order), {}, {}};
  if (side.plain)
    return result;
  result.scales =
      spreadButLast(builder, location, transposed(builder, location, side.parts.scales, order),
                    shapeOf(result.elements));
  result.outer = side.parts.outer;
  result.block = side.scaled.getBlock()[static_cast<std::size_t>(contracting[0])];
  return result;
}

} // namespace

mlir::FlatSymbolRefAttr ScaledDotComposites::decomposition(mlir::Location location,
                                                           const ScaledProduct& product,
                                                           mlir::ValueRange operands) {
  std::string key;
  llvm::raw_string_ostream out(key);
  for (mlir::Type type : operands.getTypes())
    out << type << ", ";
  out << product.dimensions << product.result;
  mlir::FlatSymbolRefAttr& found = known[key];
  if (found)
    return found;
  auto module = llvm::cast<mlir::ModuleOp>(symbols.getOp());
  mlir::MLIRContext* context = module.getContext();
  auto function = mlir::func::FuncOp::create(
      location, "xla.scaled_dot",
      mlir::FunctionType::get(context, operands.getTypes(), mlir::TypeRange(product.result)));
  function.setPrivate();
  symbols.insert(function);
  mlir::Block& body = *function.addEntryBlock();
  mlir::OpBuilder inner = mlir::OpBuilder::atBlockBegin(&body);
  std::array<mlir::Value, 2> wide;
  for (unsigned i = 0; i < 2; ++i)
    wide[i] = product.sides[i].plain
                  ? emitWiden(inner, location, body.getArgument(i))
                  : emitDequantize(inner, location,
                                   {body.getArgument(i), body.getArgument(i + 2), nullptr},
                                   product.sides[i].scaled);
  const mlir::Value result =
      emitDot(inner, location, wide[0], wide[1], product.dimensions, product.result);
  mlir::func::ReturnOp::create(inner, location, result);
  return found = mlir::FlatSymbolRefAttr::get(function.getSymNameAttr());
}

FormOfProduct ScaledDotComposites::write(mlir::OpBuilder& builder, mlir::Location location,
                                         const ScaledProduct& product) {
  const auto dimensions = product.dimensions;
  if (dimensions.getLhsContractingDimensions().size() != 1 ||
      dimensions.getLhsBatchingDimensions().size() > 1)
    return "has several contracted or several batch axes";
  for (const ScaledProduct::Side& side : product.sides) {
    if (std::string reason = misfit(side); !reason.empty())
      return reason;
    if (side.parts.outer)
      return "has an outer scale";
    if (!side.plain && elementCount(shapeOf(side.parts.scales)) == 1)
      return "has one scale for a tensor, which XLA leaves out where it takes the operation apart";
  }
  llvm::SmallVector<mlir::Value> operands(4);
  for (auto [i, side] : llvm::enumerate(product.sides)) {
    operands[i] = side.plain ? side.plain : side.parts.elements;
    operands[i + 2] = side.parts.scales;
    if (!side.plain)
      continue;
    // XLA marks a bf16 side without scales by a constant scale.
    const Axes ones(shapeOf(side.plain).size(), 1);
    operands[i + 2] = stablehlo::ConstantOp::create(
        builder, location,
        mlir::DenseElementsAttr::get(
            mlir::RankedTensorType::get(ones, builder.getBF16Type()),
            mlir::Attribute(builder.getFloatAttr(builder.getBF16Type(), 1.0))));
  }
  const mlir::ArrayAttr numbers = builder.getArrayAttr(
      {builder.getArrayAttr({integers(builder, dimensions.getLhsContractingDimensions()),
                             integers(builder, dimensions.getRhsContractingDimensions())}),
       builder.getArrayAttr({integers(builder, dimensions.getLhsBatchingDimensions()),
                             integers(builder, dimensions.getRhsBatchingDimensions())})});
  const mlir::DictionaryAttr attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr("dimension_numbers", numbers),
       builder.getNamedAttr("preferred_element_type",
                            mlir::TypeAttr::get(product.result.getElementType()))});
  mlir::OperationState state(location, stablehlo::CompositeOp::getOperationName(), operands,
                             mlir::Type(product.result));
  state.addAttribute("name", builder.getStringAttr("xla.scaled_dot"));
  state.addAttribute("composite_attributes", attributes);
  state.addAttribute("decomposition", decomposition(location, product, operands));
  return builder.create(state)->getResult(0);
}

FormOfProduct writeBlockScaledDot(mlir::OpBuilder& builder, mlir::Location location,
                                  const ScaledProduct& product) {
  const auto dimensions = product.dimensions;
  const llvm::ArrayRef<std::int64_t> batching[] = {dimensions.getLhsBatchingDimensions(),
                                                   dimensions.getRhsBatchingDimensions()},
                                     contracting[] = {dimensions.getLhsContractingDimensions(),
                                                      dimensions.getRhsContractingDimensions()};
  for (unsigned i = 0; i < 2; ++i)
    if (std::string reason = callMisfit(product.sides[i], batching[i], contracting[i]);
        !reason.empty())
      return reason;
  const bool isOneSided = product.sides[0].plain || product.sides[1].plain;
  if (isOneSided && (product.sides[0].parts.outer || product.sides[1].parts.outer))
    return "has an outer scale, and a side without scales";
  const auto blockOf = [&](unsigned i) {
    return product.sides[i].scaled.getBlock()[static_cast<std::size_t>(contracting[i][0])];
  };
  if (!isOneSided && blockOf(0) != blockOf(1))
    return "has blocks of two sizes";
  CallSide lhs = callSide(builder, location, product.sides[0], batching[0], contracting[0]);
  CallSide rhs = callSide(builder, location, product.sides[1], batching[1], contracting[1]);
  const bool isSwapped = !lhs.scales; // the call requires scales of the left side
  if (isSwapped)
    std::swap(lhs, rhs);
  llvm::SmallVector<mlir::Value> operands = {lhs.elements, rhs.elements, lhs.scales};
  if (rhs.scales)
    operands.push_back(rhs.scales);
  if (mlir::Value global = lhs.outer ? lhs.outer : rhs.outer) {
    if (lhs.outer && rhs.outer)
      global = stablehlo::MulOp::create(builder, location, lhs.outer, rhs.outer);
    operands.push_back(global);
  }
  Axes shape(shapeOf(lhs.elements));
  shape.back() = shapeOf(rhs.elements)[shape.size() - 2];
  const mlir::Type f32 = builder.getF32Type();
  const std::string config =
      "{\"block_scaled_dot_backend_config\": {\"block_size\": " + std::to_string(lhs.block) + "}}";
  mlir::Value result = call(builder, location, "__op$block_scaled_dot", operands,
                            mlir::Type(mlir::RankedTensorType::get(shape, f32)), config)[0];
  if (isSwapped) {
    Axes order =
        llvm::to_vector(llvm::seq<std::int64_t>(0, static_cast<std::int64_t>(shape.size())));
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    result = transposed(builder, location, result, order);
  }
  if (product.result.getElementType() != f32)
    result = stablehlo::ConvertOp::create(builder, location, product.result, result);
  return result;
}

/// Why XLA's quantization cannot express this one; empty if it can.
static std::string quantizeMisfit(ir::ScaledType type, const numerics::QuantizeOptions& options) {
  const format::ElementFormat& element = *type.getElement();
  if (std::string reason = misfit(element); !reason.empty())
    return reason;
  if (type.getHasOuterScale())
    return "has an outer scale";
  if (type.getScale()->trailingSignificandBits > 0) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "has scales amax / " << llvm::format("%g", numerics::maxValue(element))
        << ", XLA's call amax / 2^" << element.emax();
    return text;
  }
  if (options.rule != format::ScaleRule::Nearest)
    return "has the scale rule " + std::string(format::scaleRuleName(options.rule)) +
           ", XLA's call nearest";
  const auto* const xla = llvm::find_if(
      numerics::kPresets, [](const numerics::Preset& preset) { return preset.name == "xla"; });
  numerics::QuantizeOptions same = xla->options;
  same.input = options.input;
  if (options != same)
    return "has other settings than XLA's call, which makes NaN of blocks of zeros "
           "(preset = \"xla\" has those)";
  // The preset xla covers only equal blocks along one axis.
  if (llvm::is_contained(type.getShape(), 0))
    return "has no elements";
  return {};
}

std::variant<ScaledParts, std::string> writeQuantizeCall(mlir::OpBuilder& builder,
                                                         mlir::Location location,
                                                         mlir::Value operand, ir::ScaledType type,
                                                         ir::QuantizationAttr quantization) {
  if (std::string reason =
          quantizeMisfit(type, quantization.getOptions(type, *elementFormatOf(operand)));
      !reason.empty())
    return reason;
  // Moves the blocked axis to the end.
  Axes order = llvm::to_vector(
      llvm::seq<std::int64_t>(0, static_cast<std::int64_t>(type.getShape().size())));
  auto* blocked = llvm::find_if(order, [&](std::int64_t axis) {
    return type.getBlock()[static_cast<std::size_t>(axis)] != 1;
  });
  if (blocked != order.end())
    std::rotate(blocked, blocked + 1, order.end());
  Axes back(order.size());
  for (auto [at, axis] : llvm::enumerate(order))
    back[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(at);
  const auto along = [&](mlir::RankedTensorType of) {
    return of.clone(permuted(of.getShape(), order));
  };
  const mlir::ValueRange parts =
      call(builder, location, "__op$quantize",
           transposed(builder, location, emitWiden(builder, location, operand), order),
           {along(type.getElementsType()), along(type.getScalesType())}, "");
  return ScaledParts{transposed(builder, location, parts[0], back),
                     transposed(builder, location, parts[1], back), nullptr};
}

mlir::Value writeDequantizeCall(mlir::OpBuilder& builder, mlir::Location location,
                                const ScaledParts& parts, ir::ScaledType type) {
  if (type.getShape().empty() || !misfit(*type.getElement()).empty() || !hasEqualBlocks(type))
    return {};
  for (auto [extent, block] :
       llvm::zip_equal(type.getShape().drop_back(), type.getBlock().drop_back()))
    if (block != 1 && block != extent)
      return {};
  const auto wide = mlir::RankedTensorType::get(type.getShape(), builder.getF32Type());
  mlir::Value result =
      call(builder, location, "__op$dequantize",
           {parts.elements, spreadButLast(builder, location, parts.scales, type.getShape())},
           mlir::Type(wide), "")[0];
  if (parts.outer)
    result = stablehlo::MulOp::create(
        builder, location, result,
        stablehlo::BroadcastInDimOp::create(builder, location, wide, parts.outer,
                                            llvm::ArrayRef<std::int64_t>()));
  return result;
}

} // namespace octavo::transforms
