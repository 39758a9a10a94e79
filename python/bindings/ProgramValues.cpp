#include "python/bindings/ProgramValues.h"

#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"
#include "python/bindings/ScaledTensor.h"

#include "octavo/Program/Values/Comparison.h"
#include "octavo/Program/Values/QuantizedArgument.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace octavo::python {

namespace nb = nanobind;

namespace {

using numerics::ElementType;
using numerics::Tensor;
using program::Value;

/// Keeps a reference to a Python object and releases it with Python's lock. Detached work may
/// release it while Python ends; the reference is then leaked.
std::shared_ptr<const void> holderOf(nb::object object) {
  return std::shared_ptr<const void>(object.release().ptr(), [](const void* held) {
    if (_Py_IsFinalizing() != 0)
      return;
    const nb::gil_scoped_acquire locked;
    Py_DECREF(static_cast<PyObject*>(const_cast<void*>(held)));
  });
}

/// The array as a tensor. A row-major array is shared, any other is copied.
Tensor tensorOf(const Array& given, const ElementType& type) {
  const Array array = contiguous(given);
  const std::size_t bytes = array.size() * static_cast<std::size_t>(type.bytes());
  return {type, array.shape, numerics::Bytes::lent({array.data, bytes}, holderOf(array.numpy))};
}

/// The tensor with the unused high bits of booleans and small integers cleared. NumPy does not
/// clear them.
Tensor withoutExcess(Tensor tensor) {
  if (tensor.type.isFloat() || tensor.type.isComplex() || tensor.type.width() >= 8)
    return tensor;
  const auto width = tensor.type.width();
  const auto mask = static_cast<std::byte>((1 << width) - 1);
  const bool isBoolean = tensor.type.isBoolean();
  const auto clean = [&](std::byte code) {
    return isBoolean ? std::byte{code != std::byte{0}} : code & mask;
  };
  if (std::ranges::all_of(tensor.bytes, [&](std::byte code) { return clean(code) == code; }))
    return tensor;
  numerics::Bytes own = tensor.bytes;
  std::ranges::transform(own, own.begin(), clean);
  tensor.bytes = std::move(own);
  return tensor;
}

std::string what(const program::Argument& argument, const std::string& function) {
  return fmt::format("argument \"{}\" of @{}", argument.name, function);
}

void checkShape(const program::Argument& argument, const std::string& function,
                const Shape& shape) {
  if (argument.takes(shape))
    return;
  raise(ErrorClass::Shape, "{}: expected {}, found shape {}", what(argument, function),
        argument.describe(), text(shape));
}

/// The tensor with pointers to this extension's format tables; octavo._core, which made the tensor,
/// has a separate copy of the tables.
ScaledTensor ours(const ScaledTensor& made) {
  ScaledTensor tensor = made;
  tensor.type.element = format::findElementFormat(made.type.element->name);
  tensor.type.scale = format::findElementFormat(made.type.scale->name);
  tensor.elements.format = tensor.type.element;
  tensor.scales.format = tensor.type.scale;
  tensor.format = nullptr;
  tensor.packed = nullptr;
  return tensor;
}

Value scaledValue(const program::Argument& argument, const std::string& function,
                  const ScaledTensor& made) {
  const ScaledTensor given = ours(made);
  const auto& scaled = std::get<program::ScaledArgument>(argument.type);
  checkShape(argument, function, given.shape());
  if (given.type != scaled.type)
    raise(ErrorClass::Dtype,
          "{}: expected {}, found a ScaledTensor of {} scaled by {} a block of ({})",
          what(argument, function), argument.describe(), given.type.element->name,
          given.type.scale->name, fmt::join(given.type.block, ", "));
  const Array elements = rowMajorElements(given);
  const Array scales = contiguous(given.scales);
  numerics::ScaledTensor value{given.shape(), given.type, {}, {}, given.outer};
  const auto* codes = reinterpret_cast<const std::uint8_t*>(elements.data);
  value.elements.assign(codes, codes + elements.size());
  value.scales.resize(scales.size());
  const auto width = static_cast<std::size_t>(given.type.scale->bytes());
  for (std::size_t i = 0; i < value.scales.size(); ++i)
    std::memcpy(&value.scales[i], scales.data + i * width, width);
  return Value(std::move(value));
}

Value quantizedValue(const program::Argument& argument, const std::string& function,
                     const Array& array) {
  static constexpr std::string_view kTaken[] = {"float32", "float16", "bfloat16"};
  if (std::ranges::find(kTaken, array.dtype) == std::end(kTaken))
    raise(ErrorClass::Dtype,
          "{}: expected a ScaledTensor, or float32, float16 or bfloat16 to be quantized; found {}",
          what(argument, function), array.dtype);
  Tensor tensor = tensorOf(array, *array.format);
  auto value = withoutLock([&] { return program::quantizedFor(argument, tensor); });
  if (!value)
    raise(ErrorClass::NonFinite,
          "{}: element [{}] is {}, and its quantization refuses it: repair the weight, or compile "
          "with non_finite=\"propagate\", \"saturate\" or \"skip-nan\"",
          what(argument, function),
          fmt::join(program::indexOf(array.shape, value.error().index), ", "), value.error().value);
  return std::move(*value);
}

/// The part of a scaled tensor that a plain argument takes: codes or scales, if the argument is one
/// of the two arguments of a quantized cache (docs/recipes.md).
std::string_view partFor(const program::Argument& argument, const ScaledTensor& given) {
  const auto& type = std::get<ElementType>(argument.type);
  const auto is = [&](const format::ElementFormat& format) {
    return type.isFloat() && type.format().name == format.name;
  };
  if (argument.name.ends_with(".scales") && is(*given.type.scale))
    return "scales";
  return is(*given.type.element) ? "elements" : "dequantize()";
}

/// The object, or an array if it is a Python number. The number takes the argument's dtype if that
/// is of the number's kind or a wider kind.
nb::object asArray(nb::handle given, const ElementType& type, const std::string& dtype,
                   const std::string& name) {
  const bool isInteger = PyLong_Check(given.ptr()) && !PyBool_Check(given.ptr());
  const bool isFloat = PyFloat_Check(given.ptr()) || PyComplex_Check(given.ptr());
  if (!isInteger && !isFloat && !PyBool_Check(given.ptr()))
    return nb::borrow(given);
  if (type.isBoolean() ? isInteger || isFloat : isFloat && (type.isInteger() || type.isQuantized()))
    raise(ErrorClass::Dtype, "{}: expected {}, found {}", name, dtype,
          nb::cast<std::string>(given.type().attr("__name__")));
  return nb::module_::import_("numpy").attr("asarray")(given, dtype);
}

/// Whether the memory of an array cannot be written to.
bool isImmutable(nb::handle given) {
  const nb::object& arrayType =
      madeOnce([] { return nb::object(nb::module_::import_("numpy").attr("ndarray")); });
  if (!nb::isinstance(given, arrayType)) {
    const nb::dict modules = nb::module_::import_("sys").attr("modules");
    return modules.contains("jax") && nb::hasattr(modules["jax"], "Array") &&
           nb::isinstance(given, modules["jax"].attr("Array"));
  }
  nb::object each = nb::borrow(given);
  for (; nb::isinstance(each, arrayType); each = each.attr("base"))
    if (nb::cast<bool>(each.attr("flags").attr("writeable")))
      return false;
  return each.is_none() || PyBytes_Check(each.ptr());
}

} // namespace

nb::tuple shapeOf(std::span<const std::int64_t> shape) {
  nb::list list;
  for (const std::int64_t extent : shape)
    list.append(extent == program::kUnknownExtent ? nb::object(nb::none())
                                                  : nb::object(nb::int_(extent)));
  return nb::tuple(list);
}

Value programValue(const program::Argument& argument, const std::string& function,
                   nb::handle given) {
  if (nb::isinstance<ScaledTensor>(given)) {
    const auto& tensor = nb::cast<const ScaledTensor&>(given);
    if (!argument.isScaled())
      raise(ErrorClass::Dtype, "{}: expected {}, found a ScaledTensor; give its {}",
            what(argument, function), argument.describe(), partFor(argument, tensor));
    return scaledValue(argument, function, tensor);
  }
  const std::string name = what(argument, function);
  if (argument.isScaled()) {
    const Array array = toArray(given, name);
    checkShape(argument, function, array.shape);
    return quantizedValue(argument, function, array);
  }
  const auto& type = std::get<ElementType>(argument.type);
  const ElementType stored = program::typeInFiles(type);
  const std::string dtype = numpyName(stored);
  const nb::object object = asArray(given, type, dtype, name);
  const Array array = toArray(object, name);
  const bool isCodes = type.isFloat() && type.format().isNarrow() && array.dtype == "uint8";
  if (array.dtype != dtype && !isCodes)
    raise(ErrorClass::Dtype, "{}: expected {}, found {}; convert it first", name, dtype,
          array.dtype);
  checkShape(argument, function, array.shape);
  Tensor tensor = withoutExcess(tensorOf(array, stored));
  if (type.isFloat() && type.width() < 8)
    checkCodes(tensor.bytes.data(), tensor.bytes.size(), type.format(), name);
  if (const auto beyond = program::firstBeyondStorage(type, tensor))
    raise(ErrorClass::Dtype, "{}: element [{}] is {}, and its storage goes from {} to {}", name,
          fmt::join(program::indexOf(tensor.shape, beyond->index), ", "), beyond->value,
          type.quantized().storageMin, type.quantized().storageMax);
  tensor.type = type;
  return Value(std::move(tensor));
}

Value boundValue(const program::Argument& argument, const std::string& function, nb::handle given) {
  Value value = programValue(argument, function, given);
  if (!value.isTensor() || !value.tensor().bytes.isLent())
    return value;
  const bool isNumber =
      PyLong_Check(given.ptr()) || PyFloat_Check(given.ptr()) || PyComplex_Check(given.ptr());
  if (isNumber || isImmutable(given))
    return value;
  // An array that is not row-major was copied.
  if (toArray(given, argument.name).data != value.tensor().bytes.data())
    return value;
  return withoutLock([&] { return Value(Tensor(value.tensor())); });
}

std::vector<ProgramResult> programResults(std::span<const program::Result> results,
                                          const CalledProgram& program, nb::handle out,
                                          std::span<const Value> inputs) {
  const std::string& function = program.name();
  std::vector<nb::object> given(results.size());
  nb::object arrayType;
  if (!out.is_none()) {
    arrayType = nb::module_::import_("numpy").attr("ndarray");
    const bool isArray = nb::isinstance(out, arrayType);
    if (isArray ? results.size() != 1
                : !nb::isinstance<nb::tuple>(out) && !nb::isinstance<nb::list>(out))
      raise(ErrorClass::Dtype, "out: expected {} of NumPy arrays, one for each of {} results",
            results.size() == 1 ? "one, or a tuple" : "a tuple", results.size());
    if (isArray)
      given[0] = nb::borrow(out);
    else if (nb::len(out) != results.size())
      raise(ErrorClass::Shape, "out: expected {} arrays, one for each result of @{}; found {}",
            results.size(), function, nb::len(out));
    else
      for (std::size_t i = 0; i < results.size(); ++i)
        given[i] = nb::borrow(out[i]);
  }
  std::vector<ProgramResult> list;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& [resultName, type, shape] = results[i];
    if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; }))
      raise(
          ErrorClass::Program,
          "result \"{}\" of @{} is {}: its extents depend on values that the program computes, and "
          "the array of a result is made before the program runs; `octavo run` takes such programs",
          resultName, function, program::describe(type, shape));
    const std::string dtype = numpyName(program::typeInFiles(type));
    ProgramResult result{.bytesOfElement = type.bytes()};
    if (!given[i].is_valid()) {
      result.array = emptyOf(shape, dtype);
      list.push_back(std::move(result));
      continue;
    }
    const std::string name = fmt::format("out: result \"{}\" of @{}", resultName, function);
    if (!nb::isinstance(given[i], arrayType))
      raise(ErrorClass::Dtype, "{}: expected a NumPy array, found {}", name,
            nb::cast<std::string>(given[i].type().attr("__name__")));
    result.array = toArray(given[i], name);
    result.given = given[i];
    if (result.array.dtype != dtype || result.array.shape != shape)
      raise(result.array.dtype != dtype ? ErrorClass::Dtype : ErrorClass::Shape,
            "{}: expected {} of shape {}, found {} of shape {}", name, dtype, text(shape),
            result.array.dtype, text(result.array.shape));
    if (!nb::cast<bool>(result.array.numpy.attr("flags").attr("writeable")))
      raise(ErrorClass::Dtype, "{}: the array is read-only: give one that can be written to", name);
    if (!result.array.isContiguous)
      raise(ErrorClass::Shape,
            "{}: the array is not row-major and aligned: give one as numpy.empty makes it", name);
    const std::span<std::byte> memory = result.memory();
    const auto overlaps = [&](std::span<const std::byte> other) {
      return std::less<>()(memory.data(), other.data() + other.size()) &&
             std::less<>()(other.data(), memory.data() + memory.size());
    };
    for (const ProgramResult& before : list)
      if (overlaps(before.memory()))
        raise(ErrorClass::Shape, "{}: the array shares memory with that of another result", name);
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (!inputs[k].isTensor() || !overlaps(inputs[k].tensor().bytes))
        continue;
      const program::Argument& argument = program.arguments()[k];
      const bool isDonated = program.isDonated(k, i);
      const auto& bytes = inputs[k].tensor().bytes;
      const bool isSame = bytes.data() == memory.data() && bytes.size() == memory.size();
      if (isDonated && isSame && program.bound(k) == nullptr)
        continue;
      raise(ErrorClass::Shape,
            "{}: the array shares memory with argument \"{}\"{}; give one of its own", name,
            argument.name,
            program.bound(k) != nullptr ? ", which is bound"
            : isDonated                 ? ", but is not the same array"
                                        : ", which the program does not donate to it");
    }
    list.push_back(std::move(result));
  }
  return list;
}

} // namespace octavo::python
