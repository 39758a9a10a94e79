// Shardy's attributes: their text and verifiers.
#include "octavo/Dialect/Sdy/ShardingRule.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#define GET_ATTRDEF_CLASSES
#include "octavo/Dialect/Sdy/SdyAttributes.cpp.inc"

namespace octavo::sdy {

using Delimiter = mlir::AsmParser::Delimiter;
using mlir::AsmParser;
using mlir::AsmPrinter;
using mlir::Attribute;
using mlir::ParseResult;

void SdyDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "octavo/Dialect/Sdy/SdyAttributes.cpp.inc"
      >();
}

namespace {

template <typename Attr> using List = llvm::SmallVector<Attr>;

template <typename Attr>
ParseResult parseList(AsmParser& parser, Delimiter delimiter, List<Attr>& list) {
  return parser.parseCommaSeparatedList(delimiter, [&]() -> ParseResult {
    auto one = llvm::dyn_cast_or_null<Attr>(Attr::parse(parser, mlir::Type()));
    list.push_back(one);
    return mlir::success(static_cast<bool>(one));
  });
}

template <typename Attr> void printList(AsmPrinter& printer, llvm::ArrayRef<Attr> list) {
  llvm::interleaveComma(list, printer, [&](Attr one) { one.print(printer); });
}

void printName(AsmPrinter& printer, llvm::StringRef name) {
  printer << '"';
  llvm::printEscapedString(name, printer.getStream());
  printer << '"';
}

/// Factors are written `i` to `z`, then `z_1`, `z_2` and so on.
constexpr char kFirstFactor = 'i';
constexpr std::int64_t kMostFactors = std::int64_t{1} << 32;
constexpr std::int64_t kLetters = 'z' - kFirstFactor + 1;

/// Removes a factor from the front of `text`; nullopt if there is none.
std::optional<std::int64_t> takeFactor(llvm::StringRef& text) {
  if (text.empty() || text.front() < kFirstFactor || text.front() > 'z')
    return std::nullopt;
  const std::int64_t letter = text.front() - kFirstFactor;
  text = text.drop_front();
  if (letter != kLetters - 1 || !text.consume_front("_"))
    return letter;
  std::int64_t more = 0;
  if (text.consumeInteger(10, more) || more < 1 || more > kMostFactors)
    return std::nullopt;
  return kLetters - 1 + more;
}

/// Reads the factors in a keyword such as `ij`.
ParseResult parseFactors(AsmParser& parser, llvm::SmallVectorImpl<std::int64_t>& factors) {
  const llvm::SMLoc at = parser.getCurrentLocation();
  llvm::StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return mlir::failure();
  for (llvm::StringRef rest = keyword; !rest.empty();) {
    const std::optional<std::int64_t> factor = takeFactor(rest);
    if (!factor)
      return parser.emitError(at) << "'" << keyword
                                  << "' is not made of factors: i to z, then z_1, z_2, ...";
    factors.push_back(*factor);
  }
  return mlir::success();
}

} // namespace

std::string factorName(std::int64_t factor) {
  return factor < kLetters ? std::string(1, static_cast<char>(kFirstFactor + factor))
                           : "z_" + std::to_string(factor - kLetters + 1);
}

Attribute MeshAxisAttr::parse(AsmParser& parser, mlir::Type) {
  std::string name;
  std::int64_t size = 0;
  if (parser.parseString(&name) || parser.parseEqual() || parser.parseInteger(size))
    return {};
  return get(parser.getContext(), name, size);
}

void MeshAxisAttr::print(AsmPrinter& printer) const {
  printName(printer, getName());
  printer << "=" << getSize();
}

Attribute MeshAttr::parse(AsmParser& parser, mlir::Type) {
  const llvm::SMLoc at = parser.getCurrentLocation();
  List<MeshAxisAttr> axes;
  llvm::SmallVector<std::int64_t> devices;
  if (parser.parseLess() || parseList(parser, Delimiter::Square, axes))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("device_ids") || parser.parseEqual() ||
       parser.parseCommaSeparatedList(Delimiter::Square,
                                      [&] { return parser.parseInteger(devices.emplace_back()); })))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(at); }, parser.getContext(), axes,
                    deviceIds(axes, devices));
}

void MeshAttr::print(AsmPrinter& printer) const {
  printer << "<[";
  printList(printer, getAxes());
  printer << "]";
  if (!getDeviceIds().empty()) {
    printer << ", device_ids=[";
    llvm::interleaveComma(getDeviceIds(), printer);
    printer << "]";
  }
  printer << ">";
}

mlir::LogicalResult MeshAttr::verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                     llvm::ArrayRef<MeshAxisAttr> axes,
                                     llvm::ArrayRef<std::int64_t> devices) {
  std::int64_t count = 1;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    const MeshAxisAttr own = axis;
    if (own.getSize() < 1)
      return emitError() << "the axis \"" << own.getName() << "\" of a mesh has " << own.getSize()
                         << " devices; it needs one at least";
    if (llvm::any_of(axes.take_front(i),
                     [&](MeshAxisAttr other) { return other.getName() == own.getName(); }))
      return emitError() << "a mesh has the axis \"" << own.getName() << "\" twice";
    if (__builtin_mul_overflow(count, own.getSize(), &count))
      return emitError() << "a mesh has more than 2^63 devices";
  }
  if (devices.empty() || (axes.empty() && devices.size() == 1 && devices[0] >= 0))
    return mlir::success();
  llvm::SmallVector<std::int64_t> sorted(devices);
  llvm::sort(sorted);
  for (auto [i, device] : llvm::enumerate(sorted))
    if (device != static_cast<std::int64_t>(i))
      return emitError() << "the device_ids of a mesh are the numbers from 0 on, each once";
  if (static_cast<std::int64_t>(devices.size()) != count)
    return emitError() << "a mesh of " << count << " devices has " << devices.size()
                       << " device_ids";
  return mlir::success();
}

llvm::ArrayRef<std::int64_t> MeshAttr::deviceIds(llvm::ArrayRef<MeshAxisAttr> axes,
                                                 llvm::ArrayRef<std::int64_t> devices) {
  const bool isRowMajor = llvm::all_of(llvm::enumerate(devices), [](auto device) {
    return device.value() == static_cast<std::int64_t>(device.index());
  });
  std::int64_t count = 1;
  for (MeshAxisAttr axis : axes)
    if (__builtin_mul_overflow(count, axis.getSize(), &count))
      return devices;
  const bool isWhole = count == static_cast<std::int64_t>(devices.size());
  return !axes.empty() && isRowMajor && isWhole ? llvm::ArrayRef<std::int64_t>() : devices;
}

std::int64_t MeshAttr::devices() const {
  std::int64_t count = 1;
  for (MeshAxisAttr axis : getAxes())
    count *= axis.getSize();
  return count;
}

std::int64_t MeshAttr::sizeOf(llvm::StringRef name) const {
  const auto axis =
      llvm::find_if(getAxes(), [&](MeshAxisAttr own) { return own.getName() == name; });
  return axis == getAxes().end() ? 0 : MeshAxisAttr(*axis).getSize();
}

Attribute SubAxisInfoAttr::parse(AsmParser& parser, mlir::Type) {
  std::int64_t before = 0, size = 0;
  if (parser.parseLParen() || parser.parseInteger(before) || parser.parseRParen() ||
      parser.parseInteger(size))
    return {};
  return get(parser.getContext(), before, size);
}

void SubAxisInfoAttr::print(AsmPrinter& printer) const {
  printer << "(" << getPreSize() << ")" << getSize();
}

Attribute AxisRefAttr::parse(AsmParser& parser, mlir::Type) {
  std::string name;
  SubAxisInfoAttr part;
  if (parser.parseString(&name))
    return {};
  if (succeeded(parser.parseOptionalColon())) {
    part = llvm::dyn_cast_or_null<SubAxisInfoAttr>(SubAxisInfoAttr::parse(parser, mlir::Type()));
    if (!part)
      return {};
  }
  return get(parser.getContext(), name, part);
}

void AxisRefAttr::print(AsmPrinter& printer) const {
  printName(printer, getName());
  if (getSubAxisInfo()) {
    printer << ":";
    getSubAxisInfo().print(printer);
  }
}

Attribute DimensionShardingAttr::parse(AsmParser& parser, mlir::Type) {
  List<AxisRefAttr> axes;
  bool isClosed = true;
  const auto element = [&]() -> ParseResult {
    if (isClosed && succeeded(parser.parseOptionalQuestion())) {
      isClosed = false;
      return mlir::success();
    }
    if (!isClosed)
      return parser.emitError(parser.getCurrentLocation(), "expected nothing after '?'");
    axes.push_back(llvm::dyn_cast_or_null<AxisRefAttr>(AxisRefAttr::parse(parser, mlir::Type())));
    return mlir::success(static_cast<bool>(axes.back()));
  };
  if (parser.parseCommaSeparatedList(Delimiter::Braces, element))
    return {};
  std::optional<std::int64_t> priority;
  const llvm::SMLoc at = parser.getCurrentLocation();
  llvm::StringRef keyword;
  if (succeeded(parser.parseOptionalKeyword(&keyword))) {
    std::int64_t number = 0;
    if (!keyword.consume_front("p") || keyword.getAsInteger(10, number) || number < 0) {
      parser.emitError(at) << "expected a priority, p0 or p1 or ...";
      return {};
    }
    priority = number;
  }
  return get(parser.getContext(), axes, isClosed, priority);
}

void DimensionShardingAttr::print(AsmPrinter& printer) const {
  printer << "{";
  printList(printer, getAxes());
  if (!getIsClosed())
    printer << (getAxes().empty() ? "?" : ", ?");
  printer << "}";
  if (getPriority())
    printer << "p" << *getPriority();
}

Attribute TensorShardingAttr::parse(AsmParser& parser, mlir::Type) {
  Attribute mesh;
  if (parser.parseLess())
    return {};
  if (succeeded(parser.parseOptionalKeyword("mesh"))) {
    mesh = MeshAttr::parse(parser, mlir::Type());
  } else {
    mlir::StringAttr name;
    if (parser.parseSymbolName(name))
      return {};
    mesh = mlir::FlatSymbolRefAttr::get(name);
  }
  List<DimensionShardingAttr> dimensions;
  if (!mesh || parser.parseComma() || parseList(parser, Delimiter::Square, dimensions))
    return {};
  List<AxisRefAttr> replicated, unreduced;
  while (succeeded(parser.parseOptionalComma())) {
    const bool isReplicated = succeeded(parser.parseOptionalKeyword("replicated"));
    List<AxisRefAttr>& axes = isReplicated ? replicated : unreduced;
    if (!isReplicated && parser.parseKeyword("unreduced"))
      return {};
    if (!axes.empty()) {
      parser.emitError(parser.getCurrentLocation(), "expected each list of axes once");
      return {};
    }
    if (parser.parseEqual() || parseList(parser, Delimiter::Braces, axes))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), mesh, dimensions, replicated, unreduced);
}

void TensorShardingAttr::print(AsmPrinter& printer) const {
  printer << "<";
  if (const auto mesh = llvm::dyn_cast<MeshAttr>(getMeshOrRef())) {
    printer << "mesh";
    mesh.print(printer);
  } else {
    printer << getMeshOrRef();
  }
  printer << ", [";
  printList(printer, getDimShardings());
  printer << "]";
  for (const auto& [name, axes] :
       {std::pair("replicated", getReplicatedAxes()), std::pair("unreduced", getUnreducedAxes())})
    if (!axes.empty()) {
      printer << ", " << name << "={";
      printList(printer, axes);
      printer << "}";
    }
  printer << ">";
}

Attribute TensorShardingPerValueAttr::parse(AsmParser& parser, mlir::Type) {
  List<TensorShardingAttr> shardings;
  if (parser.parseLess() || parseList(parser, Delimiter::Square, shardings) ||
      parser.parseGreater())
    return {};
  return get(parser.getContext(), shardings);
}

void TensorShardingPerValueAttr::print(AsmPrinter& printer) const {
  printer << "<[";
  printList(printer, getShardings());
  printer << "]>";
}

Attribute ManualAxesAttr::parse(AsmParser& parser, mlir::Type) {
  llvm::SmallVector<mlir::StringAttr> axes;
  if (parser.parseCommaSeparatedList(Delimiter::Braces, [&]() -> ParseResult {
        std::string name;
        if (parser.parseString(&name))
          return mlir::failure();
        axes.push_back(parser.getBuilder().getStringAttr(name));
        return mlir::success();
      }))
    return {};
  return get(parser.getContext(), axes);
}

void ManualAxesAttr::print(AsmPrinter& printer) const {
  printer << "{";
  llvm::interleaveComma(getValue(), printer);
  printer << "}";
}

Attribute AxisRefListAttr::parse(AsmParser& parser, mlir::Type) {
  List<AxisRefAttr> axes;
  return parseList(parser, Delimiter::Braces, axes) ? Attribute() : get(parser.getContext(), axes);
}

void AxisRefListAttr::print(AsmPrinter& printer) const {
  printer << "{";
  printList(printer, getValue());
  printer << "}";
}

Attribute ListOfAxisRefListsAttr::parse(AsmParser& parser, mlir::Type) {
  List<AxisRefListAttr> lists;
  return parseList(parser, Delimiter::Square, lists) ? Attribute()
                                                     : get(parser.getContext(), lists);
}

void ListOfAxisRefListsAttr::print(AsmPrinter& printer) const {
  printer << "[";
  printList(printer, getValue());
  printer << "]";
}

Attribute AllToAllParamAttr::parse(AsmParser& parser, mlir::Type) {
  List<AxisRefAttr> axes;
  std::int64_t source = 0, target = 0;
  if (parseList(parser, Delimiter::Braces, axes) || parser.parseColon() ||
      parser.parseInteger(source) || parser.parseArrow() || parser.parseInteger(target))
    return {};
  return get(parser.getContext(), axes, source, target);
}

void AllToAllParamAttr::print(AsmPrinter& printer) const {
  printer << "{";
  printList(printer, getAxes());
  printer << "}: " << getSrcDim() << "->" << getTgtDim();
}

Attribute AllToAllParamListAttr::parse(AsmParser& parser, mlir::Type) {
  List<AllToAllParamAttr> params;
  return parseList(parser, Delimiter::Square, params) ? Attribute()
                                                      : get(parser.getContext(), params);
}

void AllToAllParamListAttr::print(AsmPrinter& printer) const {
  printer << "[";
  printList(printer, getValue());
  printer << "]";
}

Attribute DimMappingAttr::parse(AsmParser& parser, mlir::Type) {
  llvm::SmallVector<std::int64_t> factors;
  return parseFactors(parser, factors) ? Attribute() : get(parser.getContext(), factors);
}

void DimMappingAttr::print(AsmPrinter& printer) const {
  for (std::int64_t factor : getFactorIndices())
    printer << factorName(factor);
}

Attribute TensorMappingAttr::parse(AsmParser& parser, mlir::Type) {
  List<DimMappingAttr> dimensions;
  return parseList(parser, Delimiter::Square, dimensions) ? Attribute()
                                                          : get(parser.getContext(), dimensions);
}

void TensorMappingAttr::print(AsmPrinter& printer) const {
  printer << "[";
  printList(printer, getDimMappings());
  printer << "]";
}

namespace {

/// Reads `{i=2, j=3}`, the sizes of all factors in order. Absent: no factors.
ParseResult parseSizes(AsmParser& parser, llvm::SmallVectorImpl<std::int64_t>& sizes) {
  return parser.parseCommaSeparatedList(Delimiter::OptionalBraces, [&]() -> ParseResult {
    const llvm::SMLoc at = parser.getCurrentLocation();
    llvm::SmallVector<std::int64_t> factor;
    if (parseFactors(parser, factor))
      return mlir::failure();
    if (factor.size() != 1 || factor[0] != static_cast<std::int64_t>(sizes.size()))
      return parser.emitError(at) << "expected the size of "
                                  << factorName(static_cast<std::int64_t>(sizes.size()));
    return mlir::failure(parser.parseEqual() || parser.parseInteger(sizes.emplace_back()));
  });
}

} // namespace

Attribute OpShardingRuleAttr::parse(AsmParser& parser, mlir::Type) {
  List<TensorMappingAttr> operands, results;
  llvm::SmallVector<std::int64_t> sizes, kinds[4];
  bool isCustom = false;
  if (parser.parseLess() || parseList(parser, Delimiter::Paren, operands) || parser.parseArrow() ||
      parseList(parser, Delimiter::Paren, results) || parseSizes(parser, sizes))
    return {};
  for (auto [name, factors] :
       {std::pair("reduction", &kinds[0]), std::pair("need_replication", &kinds[1]),
        std::pair("permutation", &kinds[2]), std::pair("blocked_propagation", &kinds[3])})
    if (succeeded(parser.parseOptionalKeyword(name)) &&
        (parser.parseEqual() || parser.parseCommaSeparatedList(Delimiter::Braces, [&] {
          return parseFactors(parser, *factors);
        })))
      return {};
  if (succeeded(parser.parseOptionalComma())) {
    if (parser.parseKeyword("custom"))
      return {};
    isCustom = true;
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), sizes, operands, results, kinds[0], kinds[1], kinds[2], kinds[3],
             isCustom);
}

void OpShardingRuleAttr::print(AsmPrinter& printer) const {
  printer << "<(";
  printList(printer, getOperandMappings());
  printer << ")->(";
  printList(printer, getResultMappings());
  printer << ")";
  if (!getFactorSizes().empty()) {
    printer << " {";
    llvm::interleaveComma(llvm::enumerate(getFactorSizes()), printer, [&](auto factor) {
      printer << factorName(static_cast<std::int64_t>(factor.index())) << "=" << factor.value();
    });
    printer << "}";
  }
  for (const auto& [name, factors] :
       {std::pair("reduction", getReductionFactors()),
        std::pair("need_replication", getNeedReplicationFactors()),
        std::pair("permutation", getPermutationFactors()),
        std::pair("blocked_propagation", getBlockedPropagationFactors())})
    if (!factors.empty()) {
      printer << " " << name << "={";
      llvm::interleaveComma(factors, printer,
                            [&](std::int64_t factor) { printer << factorName(factor); });
      printer << "}";
    }
  printer << (getIsCustomRule() ? ", custom>" : ">");
}

} // namespace octavo::sdy
