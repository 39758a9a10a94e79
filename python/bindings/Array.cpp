#include "python/bindings/Array.h"

#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"

#include "octavo/Kernels/Widen.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

namespace octavo::python {

namespace nb = nanobind;

/// Objects of NumPy and ml_dtypes that calls need, looked up once.
struct Numpy {
  nb::object module = nb::module_::import_("numpy");
  nb::object arrayType = module.attr("ndarray");
  nb::object empty = module.attr("empty");
  nb::object byte = module.attr("dtype")("uint8");
  std::vector<nb::object> dtypes; ///< by row of kElementFormats; null if the row has no dtype

  Numpy() {
    for (const ElementFormat& row : format::kElementFormats)
      dtypes.push_back(row.numpy.empty() ? nb::object()
                                         : nb::object(module.attr("dtype")(
                                               nb::str(row.numpy.data(), row.numpy.size()))));
  }
};

static const Numpy& numpy() {
  return madeOnce([] { return Numpy(); });
}

/// The dtype of arrays of the format; uint8 if ml_dtypes lacks it.
static nb::object dtypeOf(const ElementFormat& format) {
  const nb::object dtype = numpy().dtypes[&format - format::kElementFormats.data()];
  assert(dtype.is_valid() || format.isNarrow());
  return dtype.is_valid() ? dtype : numpy().byte;
}

std::string_view dtypeName(const ElementFormat& format) {
  return format.numpy.empty() ? "uint8" : format.numpy;
}

std::string numpyName(const numerics::ElementType& type) {
  if (type.isComplex())
    return type.width() == 64 ? "complex64" : "complex128";
  if (type.isFloat())
    return std::string(dtypeName(type.format()));
  if (type.isBoolean())
    return "bool";
  return fmt::format("{}int{}", type.integer().isUnsigned ? "u" : "", type.integer().width);
}

std::string codesText(const ElementFormat& format) {
  if (format.numpy.empty())
    return fmt::format("codes of {} in uint8", format.name);
  return format.isNarrow() ? fmt::format("{} or its codes in uint8", format.numpy)
                           : std::string(format.numpy);
}

static nb::tuple tupleOf(const Shape& shape) { return nb::tuple(nb::cast(shape)); }

std::size_t Array::size() const {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

static Array describe(nb::object array) {
  const nb::object dtype = array.attr("dtype");
  const auto interface = nb::borrow<nb::dict>(array.attr("__array_interface__"));
  Array described;
  described.isContiguous = interface["strides"].is_none();
  // NumPy has one dtype object for all arrays of a dtype in the machine's byte order.
  const auto& dtypes = numpy().dtypes;
  const auto same = std::ranges::find_if(
      dtypes, [&](const nb::object& each) { return each.is_valid() && each.is(dtype); });
  if (same != dtypes.end()) {
    described.format = &format::kElementFormats[same - dtypes.begin()];
    described.dtype = described.format->numpy;
  } else {
    described.dtype = nb::cast<std::string>(dtype.attr("name"));
    const auto row =
        std::ranges::find(format::kElementFormats, described.dtype, &ElementFormat::numpy);
    described.format = row == format::kElementFormats.end() ? nullptr : &*row;
    described.isContiguous &= nb::cast<bool>(dtype.attr("isnative"));
  }
  described.shape = nb::cast<Shape>(interface["shape"]);
  const auto address = nb::cast<std::uintptr_t>(nb::object(nb::object(interface["data"])[0]));
  described.data = reinterpret_cast<std::byte*>(address);
  // A view of bytes may begin at any address, but kernels need aligned elements.
  const auto itemSize = described.format ? static_cast<std::size_t>(described.format->bytes())
                                         : nb::cast<std::size_t>(dtype.attr("itemsize"));
  described.isContiguous &= itemSize == 0 || address % itemSize == 0;
  described.numpy = std::move(array);
  return described;
}

/// A NumPy array that shares and keeps the memory of a DLPack tensor; null if no format has the
/// tensor's type. NumPy's own DLPack reader knows neither bf16 nor the narrow types.
static nb::object fromDlpack(nb::handle object, std::string_view name) {
  using Tensor = nb::ndarray<nb::ro, nb::device::cpu>;
  auto tensor = std::make_unique<Tensor>(nb::cast<Tensor>(object));
  const nb::dlpack::dtype type = tensor->dtype();
  if (type.bits < 8 && type.code != std::uint8_t(nb::dlpack::dtype_code::Bool))
    raise(ErrorClass::Dtype,
          "{}: found packed codes of {} bits; view them as uint8, and octavo.unpack has them one a "
          "byte",
          name, type.bits);
  const auto row = std::ranges::find_if(format::kElementFormats, [&](const ElementFormat& format) {
    return type.lanes == 1 && format.dlpack == type.code && format.width() == type.bits &&
           format.width() == 8 * format.bytes();
  });
  const bool isByte = type.code == std::uint8_t(nb::dlpack::dtype_code::UInt) && type.bits == 8;
  if (row == format::kElementFormats.end() && !isByte)
    return {};
  const std::size_t rank = tensor->ndim();
  std::vector<std::size_t> shape(rank);
  Shape strides(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    shape[i] = tensor->shape(i);
    strides[i] = tensor->stride(i);
  }
  const void* data = tensor->data();
  const nb::capsule owner(tensor.release(),
                          [](void* kept) noexcept { delete static_cast<Tensor*>(kept); });
  const auto bits = [&](auto word) {
    return nb::cast(nb::ndarray<nb::numpy, const decltype(word)>(data, rank, shape.data(), owner,
                                                                 strides.data()));
  };
  if (isByte)
    return bits(std::uint8_t{});
  const nb::object words = row->bytes() == 1   ? bits(std::uint8_t{})
                           : row->bytes() == 2 ? bits(std::uint16_t{})
                           : row->bytes() == 4 ? bits(std::uint32_t{})
                                               : bits(std::uint64_t{});
  return words.attr("view")(dtypeOf(*row));
}

/// The array of an object by its DLPack or __array__ method; null if it has neither.
static nb::object fromProtocols(nb::handle object, std::string_view name) {
  constexpr int kCpu = nb::device::cpu::value;
  if (nb::hasattr(object, "__dlpack__") && nb::hasattr(object, "__dlpack_device__")) {
    const nb::object device = object.attr("__dlpack_device__")();
    if (const int type = nb::cast<int>(nb::object(device[0])); type != kCpu)
      raise(ErrorClass::Dtype,
            "{}: the array lies on a device (DLPack's number {}), octavo computes on the CPU; copy "
            "it there first, in torch by .cpu()",
            name, type);
    try {
      if (const nb::object array = fromDlpack(object, name))
        return array;
    } catch (const nb::cast_error&) { // the dtype has no DLPack type: try __array__
    } catch (const Error&) {          // packed codes: JAX's __array__ unpacks them, torch's raises
      try {
        if (nb::hasattr(object, "__array__"))
          return numpy().module.attr("asarray")(object);
      } catch (const nb::python_error& error) {
        if (!error.matches(PyExc_Exception)) // such as KeyboardInterrupt
          throw;
      }
      throw;
    }
  }
  return nb::hasattr(object, "__array__") ? numpy().module.attr("asarray")(object) : nb::object();
}

/// A plain NumPy array of the same memory as an array of a subclass. Raises DtypeError for a masked
/// array with masked values.
static nb::object plainArray(nb::handle array, std::string_view name) {
  if (nb::hasattr(array, "mask")) {
    const auto masked =
        nb::cast<std::int64_t>(nb::int_(numpy().module.attr("ma").attr("count_masked")(array)));
    if (masked > 0)
      raise(ErrorClass::Dtype,
            "{}: {} of the array's values are masked; x.filled(value) says what they are", name,
            masked);
  }
  return numpy().module.attr("asarray")(array);
}

/// The object itself, or the tensor that it stands for. torch's lazy views (conjugate, negative)
/// have memory that holds other values until torch resolves them.
static nb::object resolved(nb::handle object) {
  nb::object result = nb::borrow(object);
  for (const auto& [asks, resolves] :
       {std::pair("is_conj", "resolve_conj"), std::pair("is_neg", "resolve_neg")})
    if (nb::hasattr(result, asks) && nb::hasattr(result, resolves) &&
        nb::cast<bool>(nb::bool_(result.attr(asks)())))
      result = result.attr(resolves)();
  return result;
}

Array toArray(nb::handle object, std::string_view name) {
  if (object.type().is(numpy().arrayType))
    return describe(nb::borrow(object));
  if (nb::isinstance(object, numpy().arrayType))
    return describe(plainArray(object, name));
  const auto type = nb::cast<std::string>(object.type().attr("__name__"));
  nb::object array;
  try {
    array = fromProtocols(resolved(object), name);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) // such as KeyboardInterrupt
      throw;
    raise(ErrorClass::Dtype, "{}: this {} gives no array on the CPU: {}", name, type,
          nb::cast<std::string>(nb::str(error.value())));
  }
  if (!array)
    raise(ErrorClass::Dtype,
          "{}: expected an array (NumPy, or with DLPack or __array__), found {}; "
          "numpy.asarray(x, numpy.float32) makes one of numbers and lists",
          name, type);
  return describe(array);
}

Array contiguous(const Array& array) {
  if (array.isContiguous)
    return array;
  const nb::object dtype = array.numpy.attr("dtype").attr("newbyteorder")("=");
  return describe(array.numpy.attr("astype")(dtype, nb::arg("order") = "C"));
}

static Array empty(const Shape& shape, nb::object dtype) {
  return describe(numpy().empty(tupleOf(shape), dtype));
}

Array emptyArray(const Shape& shape, const ElementFormat& format) {
  return empty(shape, dtypeOf(format));
}

Array emptyOf(const Shape& shape, const std::string& dtype) {
  return empty(shape, nb::str(dtype.c_str()));
}

Array viewed(const Array& array, const ElementFormat& format) {
  return describe(array.numpy.attr("view")(dtypeOf(format)));
}

kernels::WideType wideType(const Array& array, std::string_view name) {
  if (array.format == &format::element("f32"))
    return kernels::WideType::F32;
  if (array.format == &format::element("bf16"))
    return kernels::WideType::Bf16;
  if (array.format == &format::element("f16"))
    return kernels::WideType::F16;
  if (array.format == &format::element("f64"))
    raise(ErrorClass::Dtype,
          "{}: expected float32, bfloat16 or float16, found float64, from which a narrow format "
          "would be rounded twice; x.astype(numpy.float32) rounds the first time",
          name);
  raise(ErrorClass::Dtype, "{}: expected float32, bfloat16 or float16, found {}; convert it first",
        name, array.dtype);
}

Array asFloats(const Array& array, std::string_view name) {
  const kernels::WideType type = wideType(array, name);
  const Array in = contiguous(array);
  if (type == kernels::WideType::F32)
    return in;
  const Array out = emptyArray(array.shape, format::element("f32"));
  withoutLock([&] {
    kernels::forRanges(in.size(), 4096, execution(), [&](std::size_t begin, std::size_t end) {
      kernels::widen(type, in.data + begin * kernels::wideBytes(type),
                     reinterpret_cast<float*>(out.data) + begin, end - begin);
    });
  });
  return out;
}

/// NumPy's name of the dtype that an object names; nullopt if it does not name a dtype.
static std::optional<std::string> numpyReading(nb::handle named) {
  try {
    return nb::cast<std::string>(numpy().module.attr("dtype")(named).attr("name"));
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) // such as KeyboardInterrupt
      throw;
    return std::nullopt;
  }
}

/// The format of a name. A name that NumPy uses for a different dtype is refused: "f4" is NumPy's
/// float32 but safetensors' F4; "i8" is NumPy's int64 but MLIR's int8.
static const ElementFormat* spelledFormat(nb::handle named, const std::string& spelling,
                                          std::string_view name) {
  const ElementFormat* row = format::findElementFormat(spelling);
  if (row && row->name == spelling)
    return row;
  const auto reading = numpyReading(named);
  if (!row)
    return reading ? format::findElementFormat(*reading) : nullptr;
  if (reading && *reading != row->numpy) {
    const ElementFormat* other = format::findElementFormat(*reading);
    raise(ErrorClass::Format,
          "{}: \"{}\" is {} in NumPy and {} in other spellings; say \"{}\" or \"{}\"", name,
          spelling, *reading, row->name, other ? other->name : std::string_view(*reading),
          row->name);
  }
  return row;
}

/// The format of a torch.dtype, by torch's name of the dtype.
static const ElementFormat* torchFormat(const std::string& spelling, std::string_view name) {
  const auto row = std::ranges::find(format::kElementFormats, spelling, &ElementFormat::torch);
  if (row == format::kElementFormats.end())
    return nullptr;
  if (row->width() < 8)
    raise(ErrorClass::Dtype,
          "{}: torch.{} is packed, and codes of {} here are one a byte: say \"{}\"; octavo.pack "
          "packs them",
          name, spelling, row->name, row->name);
  return &*row;
}

const ElementFormat& elementFormat(nb::handle named, std::string_view name) {
  if (nb::isinstance<ElementFormat>(named))
    return *format::findElementFormat(nb::cast<const ElementFormat&>(named).name);
  constexpr std::string_view kTorch = "torch.";
  std::string spelling = nb::cast<std::string>(nb::str(named));
  const ElementFormat* found = nullptr;
  if (nb::isinstance<nb::str>(named)) {
    found = spelledFormat(named, spelling, name);
  } else if (spelling.starts_with(kTorch)) {
    spelling.erase(0, kTorch.size());
    found = torchFormat(spelling, name);
  } else if (const auto reading = named.is_none() ? std::nullopt : numpyReading(named)) {
    spelling = *reading;
    found = format::findElementFormat(spelling);
  } else {
    raise(ErrorClass::Dtype, "{}: expected the name of an element format or a dtype, found {}",
          name, nb::cast<std::string>(nb::repr(named)));
  }
  if (found)
    return *found;
  std::vector<std::string_view> names;
  for (const ElementFormat& row : format::kElementFormats)
    names.push_back(row.name);
  raise(ErrorClass::Format, "{}: unknown element format \"{}\"; available: {}", name, spelling,
        fmt::join(names, ", "));
}

std::size_t firstNoCode(const std::byte* bytes, std::size_t n, const ElementFormat& format) {
  if (format.width() >= 8)
    return n;
  const auto above = static_cast<std::byte>(0xFF << format.width());
  constexpr std::size_t kChunk = 1 << 16;
  std::atomic<std::size_t> first = n;
  kernels::forRanges(n, kChunk, execution(), [&](std::size_t begin, std::size_t end) {
    // A loop without an early exit, so that the compiler vectorizes it.
    std::byte all{};
    for (std::size_t i = begin; i < end; ++i)
      all |= bytes[i];
    if ((all & above) == std::byte{})
      return;
    const std::byte* found = std::find_if(
        bytes + begin, bytes + end, [&](std::byte each) { return (each & above) != std::byte{}; });
    const auto at = static_cast<std::size_t>(found - bytes);
    std::size_t least = first;
    while (at < least && !first.compare_exchange_weak(least, at)) {
    }
  });
  return first;
}

void checkCodes(const std::byte* bytes, std::size_t n, const ElementFormat& format,
                std::string_view name) {
  const std::size_t at = firstNoCode(bytes, n, format);
  if (at < n)
    raise(ErrorClass::Format,
          "{}: 0x{:02x} at index {} (row-major) is not a code of {}, which has {} bits; "
          "octavo.unpack unpacks packed codes",
          name, std::to_integer<int>(bytes[at]), at, format.name, format.width());
}

void checkCodes(const Array& codes, const ElementFormat& format, std::string_view name) {
  withoutLock([&] { checkCodes(codes.data, codes.size(), format, name); });
}

std::string text(const Shape& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

} // namespace octavo::python
