// Reads and writes Shardy's attributes in MLIR bytecode, as jaxlib 0.10 does: a code, then the
// parameters in order; a list begins with its length. Older writers store them as text, which MLIR
// reads itself.
#include "octavo/Dialect/Sdy/Sdy.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::sdy {

namespace {

using llvm::ArrayRef;
using mlir::Attribute;
using mlir::DialectBytecodeReader;
using mlir::DialectBytecodeWriter;
using mlir::LogicalResult;

enum Code : std::uint64_t {
  ManualAxes = 0,
  MeshAxis = 1,
  Mesh = 2,
  SubAxisInfo = 3,
  AxisRef = 4,
  DimensionSharding = 5,
  TensorSharding = 6,
  TensorShardingPerValue = 7,
  DimMapping = 8,
  TensorMapping = 9,
  OpShardingRule = 10,
  AxisRefList = 11,
  ListOfAxisRefLists = 12,
  AllToAllParam = 13,
  AllToAllParamList = 14,
  UnreducedTensorSharding = 15,
  UnreducedTensorShardingPerValue = 16,
};

/// Reads parameters one by one. After a failure it reads nothing.
class Reader {
public:
  explicit Reader(DialectBytecodeReader& reader) : reader(reader), context(reader.getContext()) {}

  bool hasFailed() const { return failed; }
  mlir::MLIRContext* getContext() const { return context; }
  mlir::InFlightDiagnostic emitError() const { return reader.emitError(); }

  std::string string() {
    llvm::StringRef text;
    return check(reader.readString(text)) ? text.str() : std::string();
  }
  std::int64_t number() {
    std::int64_t value = 0;
    check(reader.readSignedVarInt(value));
    return value;
  }
  bool boolean() {
    bool value = false;
    check(reader.readBool(value));
    return value;
  }
  std::optional<std::int64_t> optionalNumber() {
    std::uint64_t value = 0;
    check(reader.readVarInt(value));
    return (value & 1) != 0 ? std::optional(static_cast<std::int64_t>(value >> 1)) : std::nullopt;
  }
  template <typename Attr> Attr attribute() {
    Attr value;
    check(reader.readAttribute(value));
    return value;
  }
  template <typename Attr> Attr optionalAttribute() {
    Attr value;
    check(reader.readOptionalAttribute(value));
    return value;
  }
  template <typename Attr> llvm::SmallVector<Attr> attributes() {
    return list<Attr>([&] { return attribute<Attr>(); });
  }
  llvm::SmallVector<std::int64_t> numbers() {
    return list<std::int64_t>([&] { return number(); });
  }

private:
  bool check(LogicalResult result) {
    failed = failed || mlir::failed(result);
    return !failed;
  }

  /// Reads a list. Memory is allocated element by element, because the length in the file is not
  /// trusted.
  template <typename T, typename F> llvm::SmallVector<T> list(const F& readOne) {
    std::uint64_t count = 0;
    llvm::SmallVector<T> values;
    if (check(reader.readVarInt(count)))
      for (std::uint64_t i = 0; i < count && !failed; ++i)
        values.push_back(readOne());
    return values;
  }

  DialectBytecodeReader& reader;
  mlir::MLIRContext* context;
  bool failed = false;
};

Attribute readSharding(Reader& in, bool hasUnreduced) {
  const auto mesh = in.attribute<Attribute>();
  const auto dimensions = in.attributes<DimensionShardingAttr>();
  const auto replicated = in.attributes<AxisRefAttr>();
  const auto unreduced =
      hasUnreduced ? in.attributes<AxisRefAttr>() : llvm::SmallVector<AxisRefAttr>();
  if (in.hasFailed())
    return {};
  if (!llvm::isa<MeshAttr, mlir::FlatSymbolRefAttr>(mesh)) {
    in.emitError() << "a sharding of sdy names no mesh";
    return {};
  }
  return TensorShardingAttr::get(in.getContext(), mesh, ArrayRef(dimensions), ArrayRef(replicated),
                                 ArrayRef(unreduced));
}

Attribute readRule(Reader& in) {
  const auto sizes = in.numbers();
  const auto operands = in.attributes<TensorMappingAttr>();
  const auto results = in.attributes<TensorMappingAttr>();
  const auto reduction = in.numbers(), replication = in.numbers(), permutation = in.numbers(),
             blocked = in.numbers();
  const bool isCustom = in.boolean();
  for (const auto& factors : {reduction, replication, permutation, blocked})
    if (llvm::any_of(factors, [](std::int64_t factor) { return factor < 0; })) {
      in.emitError() << "a rule of sdy has a factor below 0";
      return {};
    }
  return in.hasFailed()
             ? Attribute()
             : OpShardingRuleAttr::get(in.getContext(), ArrayRef(sizes), ArrayRef(operands),
                                       ArrayRef(results), ArrayRef(reduction),
                                       ArrayRef(replication), ArrayRef(permutation),
                                       ArrayRef(blocked), isCustom);
}

Attribute readAxis(Reader& in) {
  const std::string name = in.string();
  const std::int64_t size = in.number();
  return in.hasFailed() ? Attribute()
                        : MeshAxisAttr::get(in.getContext(), llvm::StringRef(name), size);
}

Attribute readMesh(Reader& in) {
  const auto axes = in.attributes<MeshAxisAttr>();
  const auto devices = in.numbers();
  return in.hasFailed() ? Attribute()
                        : MeshAttr::getChecked([&] { return in.emitError(); }, in.getContext(),
                                               ArrayRef(axes), MeshAttr::deviceIds(axes, devices));
}

Attribute readSubAxis(Reader& in) {
  const std::int64_t before = in.number(), size = in.number();
  return in.hasFailed() ? Attribute() : SubAxisInfoAttr::get(in.getContext(), before, size);
}

Attribute readAxisRef(Reader& in) {
  const std::string name = in.string();
  const auto part = in.optionalAttribute<SubAxisInfoAttr>();
  return in.hasFailed() ? Attribute()
                        : AxisRefAttr::get(in.getContext(), llvm::StringRef(name), part);
}

Attribute readDimension(Reader& in) {
  const auto axes = in.attributes<AxisRefAttr>();
  const bool isClosed = in.boolean();
  const auto priority = in.optionalNumber();
  return in.hasFailed()
             ? Attribute()
             : DimensionShardingAttr::get(in.getContext(), ArrayRef(axes), isClosed, priority);
}

Attribute readParam(Reader& in) {
  const auto axes = in.attributes<AxisRefAttr>();
  const std::int64_t source = in.number(), target = in.number();
  return in.hasFailed() ? Attribute()
                        : AllToAllParamAttr::get(in.getContext(), ArrayRef(axes), source, target);
}

Attribute readDimMapping(Reader& in) {
  const auto factors = in.numbers();
  if (llvm::any_of(factors, [](std::int64_t factor) { return factor < 0; })) {
    in.emitError() << "a rule of sdy has a factor below 0";
    return {};
  }
  return in.hasFailed() ? Attribute() : DimMappingAttr::get(in.getContext(), ArrayRef(factors));
}

template <typename Attr, typename Element> Attribute readListOf(Reader& in) {
  const auto elements = in.attributes<Element>();
  return in.hasFailed() ? Attribute() : Attr::get(in.getContext(), ArrayRef(elements));
}

class Writer {
public:
  explicit Writer(DialectBytecodeWriter& writer) : writer(writer) {}

  void operator()(Code code) { writer.writeVarInt(code); }
  void operator()(llvm::StringRef text) { writer.writeOwnedString(text); }
  void operator()(std::int64_t number) { writer.writeSignedVarInt(number); }
  void operator()(bool value) { writer.writeOwnedBool(value); }
  void operator()(Attribute attribute) { writer.writeAttribute(attribute); }
  void operator()(std::optional<std::int64_t> number) {
    writer.writeVarInt(number ? static_cast<std::uint64_t>(*number) << 1 | 1 : 0);
  }
  template <typename T> void operator()(llvm::ArrayRef<T> list) {
    writer.writeVarInt(list.size());
    for (const T& element : list)
      (*this)(element);
  }
  template <typename... Parts> void all(const Parts&... parts) { ((*this)(parts), ...); }

private:
  DialectBytecodeWriter& writer;
};

bool hasUnreduced(TensorShardingAttr sharding) { return !sharding.getUnreducedAxes().empty(); }

class SdyBytecode : public mlir::BytecodeDialectInterface {
public:
  explicit SdyBytecode(mlir::Dialect* dialect) : BytecodeDialectInterface(dialect) {}

  Attribute readAttribute(DialectBytecodeReader& reader) const override {
    std::uint64_t code = 0;
    if (mlir::failed(reader.readVarInt(code)))
      return {};
    Reader in(reader);
    switch (code) {
    case ManualAxes:
      return readListOf<ManualAxesAttr, mlir::StringAttr>(in);
    case MeshAxis:
      return readAxis(in);
    case Mesh:
      return readMesh(in);
    case SubAxisInfo:
      return readSubAxis(in);
    case AxisRef:
      return readAxisRef(in);
    case DimensionSharding:
      return readDimension(in);
    case TensorSharding:
      return readSharding(in, false);
    case UnreducedTensorSharding:
      return readSharding(in, true);
    case TensorShardingPerValue:
    case UnreducedTensorShardingPerValue:
      return readListOf<TensorShardingPerValueAttr, TensorShardingAttr>(in);
    case DimMapping:
      return readDimMapping(in);
    case TensorMapping:
      return readListOf<TensorMappingAttr, DimMappingAttr>(in);
    case OpShardingRule:
      return readRule(in);
    case AxisRefList:
      return readListOf<AxisRefListAttr, AxisRefAttr>(in);
    case ListOfAxisRefLists:
      return readListOf<ListOfAxisRefListsAttr, AxisRefListAttr>(in);
    case AllToAllParam:
      return readParam(in);
    case AllToAllParamList:
      return readListOf<AllToAllParamListAttr, AllToAllParamAttr>(in);
    default:
      reader.emitError() << "octavo does not know the attribute of sdy with the code " << code;
      return {};
    }
  }

  LogicalResult writeAttribute(Attribute attribute, DialectBytecodeWriter& writer) const override {
    Writer out(writer);
    if (const auto axes = llvm::dyn_cast<ManualAxesAttr>(attribute))
      out.all(ManualAxes, axes.getValue());
    else if (const auto axis = llvm::dyn_cast<MeshAxisAttr>(attribute))
      out.all(MeshAxis, axis.getName(), axis.getSize());
    else if (const auto mesh = llvm::dyn_cast<MeshAttr>(attribute))
      out.all(Mesh, mesh.getAxes(), mesh.getDeviceIds());
    else if (const auto part = llvm::dyn_cast<SubAxisInfoAttr>(attribute))
      out.all(SubAxisInfo, part.getPreSize(), part.getSize());
    else if (const auto axis = llvm::dyn_cast<AxisRefAttr>(attribute)) {
      out.all(AxisRef, axis.getName());
      writer.writeOptionalAttribute(axis.getSubAxisInfo());
    } else if (const auto dimension = llvm::dyn_cast<DimensionShardingAttr>(attribute))
      out.all(DimensionSharding, dimension.getAxes(), dimension.getIsClosed(),
              dimension.getPriority());
    else if (const auto sharding = llvm::dyn_cast<TensorShardingAttr>(attribute)) {
      out.all(hasUnreduced(sharding) ? UnreducedTensorSharding : TensorSharding,
              sharding.getMeshOrRef(), sharding.getDimShardings(), sharding.getReplicatedAxes());
      if (hasUnreduced(sharding))
        out(sharding.getUnreducedAxes());
    } else if (const auto all = llvm::dyn_cast<TensorShardingPerValueAttr>(attribute))
      out.all(llvm::any_of(all.getShardings(), hasUnreduced) ? UnreducedTensorShardingPerValue
                                                             : TensorShardingPerValue,
              all.getShardings());
    else if (const auto mapping = llvm::dyn_cast<DimMappingAttr>(attribute))
      out.all(DimMapping, mapping.getFactorIndices());
    else if (const auto mapping = llvm::dyn_cast<TensorMappingAttr>(attribute))
      out.all(TensorMapping, mapping.getDimMappings());
    else if (const auto rule = llvm::dyn_cast<OpShardingRuleAttr>(attribute))
      out.all(OpShardingRule, rule.getFactorSizes(), rule.getOperandMappings(),
              rule.getResultMappings(), rule.getReductionFactors(),
              rule.getNeedReplicationFactors(), rule.getPermutationFactors(),
              rule.getBlockedPropagationFactors(), rule.getIsCustomRule());
    else if (const auto axes = llvm::dyn_cast<AxisRefListAttr>(attribute))
      out.all(AxisRefList, axes.getValue());
    else if (const auto lists = llvm::dyn_cast<ListOfAxisRefListsAttr>(attribute))
      out.all(ListOfAxisRefLists, lists.getValue());
    else if (const auto param = llvm::dyn_cast<AllToAllParamAttr>(attribute))
      out.all(AllToAllParam, param.getAxes(), param.getSrcDim(), param.getTgtDim());
    else if (const auto params = llvm::dyn_cast<AllToAllParamListAttr>(attribute))
      out.all(AllToAllParamList, params.getValue());
    else
      return mlir::failure();
    return mlir::success();
  }
};

} // namespace

void SdyDialect::registerBytecode() { addInterfaces<SdyBytecode>(); }

} // namespace octavo::sdy
