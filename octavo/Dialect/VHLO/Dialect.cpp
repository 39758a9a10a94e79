#include "octavo/Dialect/VHLO/Availability.h"
#include "octavo/Dialect/VHLO/VHLO.h"

#include "octavo/Dialect/StableHLO/Dialect.h"
#include "octavo/Dialect/VHLO/EntryReader.h"
#include "octavo/Dialect/VHLO/EntryWriter.h"
#include "octavo/Dialect/VHLO/Operations.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Support/TypeID.h"

#include <memory>

namespace octavo::vhlo {

namespace detail {

struct WrappedType : mlir::TypeStorage {
  using KeyTy = mlir::Type;
  explicit WrappedType(mlir::Type type) : type(type) {}
  bool operator==(const KeyTy& key) const { return key == type; }
  static WrappedType* construct(mlir::TypeStorageAllocator& allocator, const KeyTy& key) {
    return new (allocator.allocate<WrappedType>()) WrappedType(key);
  }
  mlir::Type type;
};

struct WrappedAttribute : mlir::AttributeStorage {
  using KeyTy = mlir::Attribute;
  explicit WrappedAttribute(mlir::Attribute attribute) : attribute(attribute) {}
  bool operator==(const KeyTy& key) const { return key == attribute; }
  static WrappedAttribute* construct(mlir::AttributeStorageAllocator& allocator, const KeyTy& key) {
    return new (allocator.allocate<WrappedAttribute>()) WrappedAttribute(key);
  }
  mlir::Attribute attribute;
};

} // namespace detail

PortableType PortableType::get(mlir::Type type) { return Base::get(type.getContext(), type); }
mlir::Type PortableType::wrapped() const { return getImpl()->type; }

/// Symbols are written as strings, so that the file has a function's name once.
PortableAttribute PortableAttribute::get(mlir::Attribute attribute) {
  if (auto symbol = llvm::dyn_cast<mlir::FlatSymbolRefAttr>(attribute))
    return Base::get(attribute.getContext(), symbol.getAttr());
  return Base::get(attribute.getContext(), attribute);
}
mlir::Attribute PortableAttribute::of(mlir::Attribute attribute) {
  return isForeign(attribute) ? attribute : get(attribute);
}
mlir::Attribute PortableAttribute::wrapped() const { return getImpl()->attribute; }

ApiVersionAttribute ApiVersionAttribute::get(mlir::IntegerAttr number) {
  return Base::get(number.getContext(), number);
}
std::uint32_t ApiVersionAttribute::number() const {
  return static_cast<std::uint32_t>(llvm::cast<mlir::IntegerAttr>(getImpl()->attribute).getInt());
}

namespace {

class BytecodeInterface : public mlir::BytecodeDialectInterface {
public:
  explicit BytecodeInterface(mlir::Dialect* dialect) : BytecodeDialectInterface(dialect) {}

  mlir::Type readType(mlir::DialectBytecodeReader& reader) const override {
    return vhlo::readType(getContext(), reader);
  }
  mlir::Attribute readAttribute(mlir::DialectBytecodeReader& reader) const override {
    return vhlo::readAttribute(getContext(), reader);
  }
  mlir::LogicalResult writeType(mlir::Type type,
                                mlir::DialectBytecodeWriter& writer) const override {
    return vhlo::writeType(llvm::cast<PortableType>(type).wrapped(), writer);
  }
  mlir::LogicalResult writeAttribute(mlir::Attribute attribute,
                                     mlir::DialectBytecodeWriter& writer) const override {
    return vhlo::writeAttribute(llvm::cast<PortableAttribute>(attribute).wrapped(), writer);
  }
};

/// Writes an operation's attributes in the alphabetical order of their names, without the names.
struct AttributesInBytecode : mlir::BytecodeOpInterface::FallbackModel<AttributesInBytecode> {
  static mlir::LogicalResult readProperties(mlir::DialectBytecodeReader& reader,
                                            mlir::OperationState& state) {
    for (llvm::StringRef name : findOperation(state.name.stripDialect())->attributeNames()) {
      mlir::Attribute attribute;
      if (failed(reader.readAttribute(attribute)))
        return mlir::failure();
      state.addAttribute(name, attribute);
    }
    return mlir::success();
  }
  void writeProperties(mlir::Operation* op, mlir::DialectBytecodeWriter& writer) const {
    for (llvm::StringRef name : findOperation(op->getName().stripDialect())->attributeNames())
      writer.writeAttribute(op->getAttr(name));
  }
};

/// An operation that is defined by its row, with properties in a dictionary. ODS would generate 145
/// classes for operations that only this folder uses.
class PortableOperation : private mlir::SelfOwningTypeID, public mlir::OperationName::Impl {
public:
  PortableOperation(const OperationRow& row, mlir::Dialect* dialect)
      : Impl(("vhlo." + row.name).str(), dialect, SelfOwningTypeID::getTypeID(), interfaces(row)),
        row(row), hasAttributes(!row.attributes.empty()) {}

  mlir::LogicalResult foldHook(mlir::Operation*, llvm::ArrayRef<mlir::Attribute>,
                               llvm::SmallVectorImpl<mlir::OpFoldResult>&) override {
    return mlir::failure();
  }
  void getCanonicalizationPatterns(mlir::RewritePatternSet&, mlir::MLIRContext*) override {}
  bool hasTrait(mlir::TypeID) override { return false; }
  mlir::OperationName::ParseAssemblyFn getParseAssemblyFn() override {
    return [](mlir::OpAsmParser& parser, mlir::OperationState&) -> mlir::ParseResult {
      return parser.emitError(parser.getNameLoc(), "VHLO is read from portable artifacts");
    };
  }
  void populateDefaultAttrs(const mlir::OperationName&, mlir::NamedAttrList&) override {}
  void printAssembly(mlir::Operation* op, mlir::OpAsmPrinter& printer, llvm::StringRef) override {
    printer.printGenericOp(op);
  }
  mlir::LogicalResult verifyInvariants(mlir::Operation*) override { return mlir::success(); }
  mlir::LogicalResult verifyRegionInvariants(mlir::Operation*) override { return mlir::success(); }

  std::optional<mlir::Attribute> getInherentAttr(mlir::Operation* op,
                                                 llvm::StringRef name) override {
    if (!llvm::is_contained(row.attributeNames(), name))
      return std::nullopt;
    return attributes(op).get(name);
  }
  void setInherentAttr(mlir::Operation* op, mlir::StringAttr name, mlir::Attribute value) override {
    mlir::NamedAttrList list(attributes(op));
    list.set(name, value);
    attributes(op) = list.getDictionary(op->getContext());
  }
  void populateInherentAttrs(mlir::Operation* op, mlir::NamedAttrList& list) override {
    if (hasAttributes)
      list.append(attributes(op));
  }
  mlir::LogicalResult verifyInherentAttrs(mlir::OperationName, mlir::NamedAttrList&,
                                          llvm::function_ref<mlir::InFlightDiagnostic()>) override {
    return mlir::success();
  }
  int getOpPropertyByteSize() override { return hasAttributes ? sizeof(mlir::DictionaryAttr) : 0; }
  void initProperties(mlir::OperationName name, mlir::OpaqueProperties storage,
                      mlir::OpaqueProperties initial) override {
    if (hasAttributes)
      new (storage.as<mlir::DictionaryAttr*>())
          mlir::DictionaryAttr(initial ? *initial.as<mlir::DictionaryAttr*>()
                                       : mlir::DictionaryAttr::get(name.getContext()));
  }
  void deleteProperties(mlir::OpaqueProperties) override {}
  void populateDefaultProperties(mlir::OperationName, mlir::OpaqueProperties) override {}
  mlir::LogicalResult
  setPropertiesFromAttr(mlir::OperationName, mlir::OpaqueProperties properties,
                        mlir::Attribute attribute,
                        llvm::function_ref<mlir::InFlightDiagnostic()> emitError) override {
    const auto dictionary = llvm::dyn_cast<mlir::DictionaryAttr>(attribute);
    if (!dictionary || !hasAttributes) {
      if (emitError)
        emitError() << "expected a dictionary of the operation's attributes";
      return mlir::failure();
    }
    *properties.as<mlir::DictionaryAttr*>() = dictionary;
    return mlir::success();
  }
  mlir::Attribute getPropertiesAsAttr(mlir::Operation* op) override {
    return hasAttributes ? attributes(op) : mlir::DictionaryAttr();
  }
  void copyProperties(mlir::OpaqueProperties to, mlir::OpaqueProperties from) override {
    if (hasAttributes)
      *to.as<mlir::DictionaryAttr*>() = *from.as<mlir::DictionaryAttr*>();
  }
  bool compareProperties(mlir::OpaqueProperties a, mlir::OpaqueProperties b) override {
    return !hasAttributes || *a.as<mlir::DictionaryAttr*>() == *b.as<mlir::DictionaryAttr*>();
  }
  llvm::hash_code hashProperties(mlir::OpaqueProperties properties) override {
    return hasAttributes ? mlir::hash_value(*properties.as<mlir::DictionaryAttr*>())
                         : llvm::hash_code(0);
  }

private:
  static mlir::detail::InterfaceMap interfaces(const OperationRow& row) {
    mlir::detail::InterfaceMap map;
    if (!row.attributes.empty())
      map.insertModels<AttributesInBytecode>();
    return map;
  }
  static mlir::DictionaryAttr& attributes(mlir::Operation* op) {
    return *op->getPropertiesStorage().as<mlir::DictionaryAttr*>();
  }

  const OperationRow& row;
  bool hasAttributes;
};

} // namespace

VHLODialect::VHLODialect(mlir::MLIRContext* context)
    : Dialect(getDialectNamespace(), context, mlir::TypeID::get<VHLODialect>()) {
  context->getOrLoadDialect<mlir::func::FuncDialect>();
  context->getOrLoadDialect<mlir::quant::QuantDialect>();
  context->getOrLoadDialect<stablehlo::StableHLODialect>();
  addTypes<PortableType>();
  addAttributes<PortableAttribute, ApiVersionAttribute>();
  addInterfaces<BytecodeInterface>();
  registerOperations();
}

void VHLODialect::registerOperations() {
  for (const OperationRow& row : operationRows())
    mlir::RegisteredOperationName::insert(std::make_unique<PortableOperation>(row, this),
                                          row.attributeNames());
}

void VHLODialect::printType(mlir::Type type, mlir::DialectAsmPrinter& printer) const {
  printer << "type<" << llvm::cast<PortableType>(type).wrapped() << ">";
}

void VHLODialect::printAttribute(mlir::Attribute attribute,
                                 mlir::DialectAsmPrinter& printer) const {
  if (auto version = llvm::dyn_cast<ApiVersionAttribute>(attribute))
    printer << "api_version<" << version.number() << ">";
  else
    printer << "attribute<" << llvm::cast<PortableAttribute>(attribute).wrapped() << ">";
}

} // namespace octavo::vhlo
