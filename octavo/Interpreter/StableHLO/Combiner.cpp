#include "octavo/Interpreter/StableHLO/Combiner.h"

#include "octavo/Interpreter/Tensor/Arithmetic.h"
#include "octavo/Interpreter/Tensor/Fold.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::interpreter {

namespace {

template <typename Codec, typename F>
void scatterContainers(const Codec& codec, F f, Tensor& target, const Tensor& updates,
                       std::span<const std::int64_t> places) {
  using Container = typename Codec::Container;
  Container* to = target.as<Container>().data();
  const Container* from = updates.as<Container>().data();
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i] >= 0)
      to[places[i]] = codec.encode(f(codec.decode(to[places[i]]), codec.decode(from[i])));
}

template <typename Op>
void scatter(Tensor& target, const Tensor& updates, std::span<const std::int64_t> places) {
  const ElementType type = target.type;
  if constexpr (RealOperation<Op>)
    if (type.isFloat())
      return withCodec(type.format(), [&](const auto& codec) {
        scatterContainers(
            codec, [](double x, double y) { return Op::real(x, y); }, target, updates, places);
      });
  if constexpr (IntegerOperation<Op>)
    if (type.isInteger())
      return withCodec(type.integer(), [&](const auto& codec) {
        scatterContainers(
            codec, [&](std::uint64_t x, std::uint64_t y) { return Op::integer(codec.type, x, y); },
            target, updates, places);
      });
  if constexpr (ComplexOperation<Op>)
    if (type.isComplex())
      return withComplexCodec(type.part(), [&](const auto& codec) {
        scatterContainers(
            codec, [](Complex x, Complex y) { return Op::complex(x, y); }, target, updates, places);
      });
}

template <typename Op> Defined<Tensor> mapTwo(const Tensor& x, const Tensor& y) {
  return map<Op>(x, y);
}

template <typename Op> constexpr Combiner row(llvm::StringRef operation) {
  return {operation, isDefinedOn<Op>, fold<Op>, mapTwo<Op>, scatter<Op>};
}
constexpr Combiner kCombiners[] = {
    row<Add>("stablehlo.add"),         row<Multiply>("stablehlo.multiply"),
    row<Maximum>("stablehlo.maximum"), row<Minimum>("stablehlo.minimum"),
    row<And>("stablehlo.and"),         row<Or>("stablehlo.or"),
};

} // namespace

const Combiner* findCombiner(mlir::Region& body, const ElementType& type) {
  mlir::Block& block = body.front();
  if (block.getNumArguments() != 2 || !llvm::hasNItems(block, 2))
    return nullptr;
  mlir::Operation& op = block.front();
  if (op.getNumOperands() != 2 || op.getNumResults() != 1 ||
      block.back().getOperands() != op.getResults())
    return nullptr;
  // All these operations are commutative.
  const mlir::Value a = block.getArgument(0), b = block.getArgument(1);
  const mlir::Value x = op.getOperand(0), y = op.getOperand(1);
  if (!(x == a && y == b) && !(x == b && y == a))
    return nullptr;
  const auto* row = llvm::find_if(kCombiners, [&](const Combiner& combiner) {
    return combiner.operation == op.getName().getStringRef() && combiner.isDefinedOn(type);
  });
  return row == std::end(kCombiners) ? nullptr : row;
}

bool overwrites(mlir::Region& body) {
  mlir::Block& block = body.front();
  const unsigned count = block.getNumArguments() / 2;
  return llvm::hasSingleElement(block) &&
         llvm::equal(block.back().getOperands(), block.getArguments().drop_front(count));
}

} // namespace octavo::interpreter
