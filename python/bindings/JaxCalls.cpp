// The targets that octavo.jax calls through XLA's foreign function interface: kernels on XLA's
// buffers.
//
// Leading axes that vmap adds form a batch. Each member of the batch is a tensor with its own outer
// scale. Exported programs refer to these targets by name, so the operands, results and attributes
// of a target never change; a different set gets a new name.
#include "python/bindings/Bindings.h"

#include "octavo/Base/FloatEnvironment.h"
#include "octavo/Kernels/Convert.h"
#include "octavo/Kernels/Dequantize.h"
#include "octavo/Kernels/Product/Product.h"
#include "octavo/Kernels/Quantize.h"
#include "octavo/Numerics/DelayedScaling.h"
#include "octavo/Numerics/Tensor.h"
#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"
#include "python/bindings/FloatGuard.h"
#include "python/bindings/JaxBuffers.h"
#include "python/bindings/JaxWeights.h"
#include "python/bindings/Options.h"
#include "python/bindings/Quantization.h"
#include "python/bindings/ScaledTensor.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <xla/ffi/api/ffi.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace octavo::python {

namespace {

namespace ffi = xla::ffi;
namespace nb = nanobind;

/// Runs a call for XLA. An exception becomes the error with which the program fails.
template <typename Call> ffi::Error answer(Call&& call) {
  const base::DefaultFloatEnvironment environment; // XLA's threads flush subnormal numbers to 0
  try {
    call();
    return ffi::Error::Success();
  } catch (const Error& error) {
    return ffi::Error::InvalidArgument(fmt::format("octavo: {}", error.what()));
  } catch (const std::exception& error) { // such as std::bad_alloc
    return ffi::Error(ffi::ErrorCode::kResourceExhausted, fmt::format("octavo: {}", error.what()));
  }
}

/// The shape of an operand that the call does not need: it has no elements.
Shape nothing(Shape lead) {
  lead.push_back(0);
  return lead;
}

/// The options of a quantization by name. An empty name leaves the preset's or the format's
/// setting. `input` is the dtype of the values before octavo.jax widened them to f32.
numerics::QuantizeOptions optionsOf(const format::ScaledFormat& format, std::string_view input,
                                    std::string_view preset, std::string_view rule,
                                    std::string_view rounding, std::string_view overflow,
                                    std::string_view nan) {
  const auto named = [](std::string_view name) {
    return name.empty() ? std::nullopt : std::optional(std::string(name));
  };
  numerics::QuantizeOptions options = quantizeOptions(
      format, {named(rule), named(preset), named(rounding), named(overflow), named(nan)});
  if (input != "f32" && input != "bf16" && input != "f16")
    raise(ErrorClass::Format, "input: expected f32, bf16 or f16, found \"{}\"", input);
  options.input = format::findElementFormat(input);
  return options;
}

/// The format of this name. Raises FormatError unless it exists and has at most 8 bits.
const ElementFormat& narrowFormat(std::string_view name) {
  const ElementFormat* format = format::findElementFormat(name);
  if (!format || !format->isNarrow())
    raise(ErrorClass::Format, "unknown narrow format \"{}\"", name);
  return *format;
}

/// The random numbers from value `at` on; empty unless the rounding is stochastic.
std::span<const std::uint32_t> numbersAt(const ffi::Buffer<ffi::U32>& bits, bool isStochastic,
                                         std::int64_t at, std::int64_t n) {
  return isStochastic
             ? std::span<const std::uint32_t>(bits.typed_data() + at, static_cast<std::size_t>(n))
             : std::span<const std::uint32_t>();
}

ffi::Error quantizeCall(ffi::Buffer<ffi::F32> x, ffi::Buffer<ffi::U32> randomBits,
                        ffi::Buffer<ffi::F32> given, ffi::Result<ffi::AnyBuffer> elements,
                        ffi::Result<ffi::AnyBuffer> scales,
                        ffi::Result<ffi::Buffer<ffi::F32>> outer, std::string_view formatName,
                        std::int64_t axisFromEnd, std::string_view input, std::string_view preset,
                        std::string_view rule, std::string_view rounding, std::string_view overflow,
                        std::string_view nan) {
  return answer([&] {
    const format::ScaledFormat& format = scaledFormat(std::string(formatName));
    const numerics::QuantizeOptions options =
        optionsOf(format, input, preset, rule, rounding, overflow, nan);
    const bool isStochastic = options.rounding == numerics::Rounding::Stochastic;
    const Buffer values = described("x", x), outerScales = described("given outer", given);
    const ScaledBatch batch = scaledBatch(format, values, outer->dimensions().size(), axisFromEnd);
    const bool isGiven = outerScales.shape == batch.lead;
    checkParts(batch, jaxDtype(*format.element), described("elements", *elements),
               described("scales", *scales), described("outer", *outer));
    checkBuffer(described("random bits", randomBits), "uint32",
                isStochastic ? values.shape : nothing(batch.lead), "the rounding");
    if (!isGiven)
      checkBuffer(outerScales, "float32", nothing(batch.lead), "a tensor without one");

    OutputCodes codes(*elements, *format.element);
    const std::int64_t size = numerics::elementCount(batch.shape);
    const std::int64_t scaleBytes = numerics::elementCount(batch.grid()) * format.scale->bytes();
    for (std::int64_t i = 0; i < numerics::elementCount(batch.lead); ++i) {
      const float* from = x.typed_data() + i * size;
      const auto random = numbersAt(randomBits, isStochastic, i * size, size);
      std::uint8_t* to = codes.get() + i * size;
      std::uint8_t* scale = static_cast<std::uint8_t*>(scales->untyped_data()) + i * scaleBytes;
      const auto report =
          isGiven ? kernels::quantizeUnder(givenOuterScale(format, given.typed_data()[i], options),
                                           from, batch.shape, batch.type, options, to, scale,
                                           random, execution())
                  : kernels::quantize(from, batch.shape, batch.type, options, to, scale, random,
                                      execution());
      if (report.refused)
        raise(ErrorClass::NonFinite,
              "quantize: {} at index {} of a tensor; nan=\"propagate\" makes its block NaN",
              report.refused->value, report.refused->index);
      outer->typed_data()[i] = isGiven ? given.typed_data()[i] : report.outer;
    }
    codes.finish();
  });
}

ffi::Error dequantizeCall(ffi::AnyBuffer elements, ffi::AnyBuffer scales,
                          ffi::Buffer<ffi::F32> outer, ffi::Result<ffi::Buffer<ffi::F32>> values,
                          std::string_view formatName, std::int64_t axisFromEnd) {
  return answer([&] {
    const format::ScaledFormat& format = scaledFormat(std::string(formatName));
    const Buffer given = described("elements", elements);
    const ScaledBatch batch = scaledBatch(format, given, outer.dimensions().size(), axisFromEnd);
    checkParts(batch, jaxDtype(*format.element), given, described("scales", scales),
               described("outer", outer));
    checkBuffer(described("values", *values), "float32", given.shape, "such elements");
    const InputCodes codes("elements", elements, *format.element);
    const std::int64_t size = numerics::elementCount(batch.shape);
    const std::int64_t scaleBytes = numerics::elementCount(batch.grid()) * format.scale->bytes();
    for (std::int64_t i = 0; i < numerics::elementCount(batch.lead); ++i)
      kernels::dequantize(codes.get() + i * size,
                          static_cast<const std::uint8_t*>(scales.untyped_data()) + i * scaleBytes,
                          outer.typed_data()[i], batch.shape, batch.type,
                          values->typed_data() + i * size, execution());
  });
}

ffi::Error convertCall(ffi::Buffer<ffi::F32> x, ffi::Buffer<ffi::U32> randomBits,
                       ffi::Result<ffi::AnyBuffer> codes, std::string_view formatName,
                       std::string_view roundingName, std::string_view overflowName,
                       std::string_view nanName) {
  return answer([&] {
    const ElementFormat& format = narrowFormat(formatName);
    const numerics::Conversion conversion = {.rounding = rounding(std::string(roundingName)),
                                             .overflow = overflow(std::string(overflowName)),
                                             .nan = nanCode(std::string(nanName))};
    const bool isStochastic = conversion.rounding == numerics::Rounding::Stochastic;
    const Buffer values = described("x", x), bits = described("random bits", randomBits);
    checkBuffer(described("codes", *codes), jaxDtype(format), values.shape, "such values");
    if (isStochastic)
      checkBuffer(bits, "uint32", values.shape, "stochastic rounding");
    OutputCodes output(*codes, format);
    const auto n = static_cast<std::int64_t>(x.element_count());
    kernels::convert(format, conversion, kernels::WideType::F32, x.typed_data(), output.get(),
                     x.element_count(), numbersAt(randomBits, isStochastic, 0, n), execution());
    output.finish();
  });
}

/// The format of an operand that a call's attributes describe: an element format, a scale format
/// and blocks [across, along]. An empty scale name stands for plain f32. Raises FormatError,
/// ShapeError.
kernels::OperandFormat operandOf(std::string_view element, std::string_view scale,
                                 std::int64_t across, std::int64_t along) {
  if (scale.empty())
    return kernels::floatOperand();
  const ElementFormat* elementRow = format::findElementFormat(element);
  const ElementFormat* scaleRow = format::findElementFormat(scale);
  if (!elementRow || !scaleRow)
    raise(ErrorClass::Format, "a product: unknown element format \"{}\"",
          elementRow ? scale : element);
  if (across < 1 || along < 1)
    raise(ErrorClass::Shape, "a product: expected blocks of 1 or more, found ({}, {})", across,
          along);
  return {elementRow, scaleRow, across, along};
}

/// One operand of a batch of products: [lead..., rows, depth], contracted along depth.
class ProductSide {
public:
  /// Raises DtypeError, ShapeError or FormatError if the buffers do not fit `format`.
  ProductSide(const kernels::OperandFormat& format, const Shape& lead, const Buffer& named,
              const ffi::AnyBuffer& elements, const Buffer& scalesNamed,
              const ffi::AnyBuffer& scales, const Buffer& outerNamed,
              const ffi::Buffer<ffi::F32>& outer)
      : format(format), elements(elements), scales(scales), outer(outer) {
    checkLead(named, lead, "the outer scales");
    const Shape matrix = member(named.shape, lead.size());
    if (matrix.size() != 2)
      raise(ErrorClass::Shape, "{}: expected two axes after {} of a batch, found shape {}",
            named.name, lead.size(), text(named.shape));
    rows = matrix[0];
    depth = matrix[1];
    checkBuffer(outerNamed, "float32", lead, "the outer scales of a batch");
    if (!format.scale) {
      checkBuffer(named, "float32", named.shape, "a plain side");
      return;
    }
    block = {std::min(format.across, std::max<std::int64_t>(rows, 1)),
             std::min(format.along, std::max<std::int64_t>(depth, 1))};
    grid = format::scaleShape(matrix, block);
    checkBuffer(named, jaxDtype(*format.element), named.shape, format.element->name);
    checkBuffer(scalesNamed, format.scale->numpy, joined(lead, grid),
                fmt::format("blocks of {} of matrices of shape {}", text(block), text(matrix)));
    name = named.name;
  }

  /// The bytes of matrix `i` of a scaled operand; nullopt unless it begins and ends at a byte
  /// boundary.
  std::optional<WeightBytes> bytes(std::int64_t i) const {
    const auto part = [&](const ffi::AnyBuffer& buffer, std::int64_t elementsOfEach, int bits) {
      const std::int64_t each = elementsOfEach * bits / 8;
      return std::span(static_cast<const std::byte*>(buffer.untyped_data()) + i * each,
                       static_cast<std::size_t>(each));
    };
    // XLA's element count is that of unpacked elements, also for packed ones.
    const int bits = elements.element_type() == ffi::DataType::F4E2M1FN ? 4 : 8;
    const std::int64_t area = rows * depth;
    if (area == 0 || area * bits % 8 != 0)
      return std::nullopt;
    return WeightBytes{
        part(elements, area, bits),
        part(scales, numerics::elementCount(grid), 8 * static_cast<int>(format.scale->bytes())),
        outer.typed_data()[i]};
  }

  /// Packs matrix `i` of the batch. Raises FormatError for a byte that is not a code.
  kernels::PackedOperand packed(std::int64_t i, kernels::Side side,
                                const kernels::ProductPlan& plan) {
    const std::int64_t area = rows * depth;
    if (!format.scale)
      return kernels::pack(std::span(static_cast<const float*>(elements.untyped_data()) + i * area,
                                     static_cast<std::size_t>(area)),
                           plan, execution());
    if (!codes)
      codes.emplace(name, elements, *format.element);
    const int scaleBytes = format.scale->bytes();
    return kernels::pack(
        kernels::ScaledView{.element = format.element,
                            .scale = format.scale,
                            .rows = rows,
                            .depth = depth,
                            .across = block[0],
                            .along = block[1],
                            .elements = codes->get() + i * area,
                            .scales = static_cast<const std::uint8_t*>(scales.untyped_data()) +
                                      i * numerics::elementCount(grid) * scaleBytes,
                            .scaleBytes = scaleBytes,
                            .outer = outer.typed_data()[i]},
        side, plan, execution());
  }

  std::int64_t rows, depth;

private:
  const kernels::OperandFormat& format;
  const ffi::AnyBuffer& elements;
  const ffi::AnyBuffer& scales;
  const ffi::Buffer<ffi::F32>& outer;
  Shape block, grid;
  std::string name;
  std::optional<InputCodes> codes; ///< set by the first call of the packing function
};

/// Matrix `i` of the right operand, packed; kept for later calls (JaxWeights.h).
std::shared_ptr<const kernels::PackedOperand> packedRight(ProductSide& side, std::int64_t i,
                                                          const kernels::ProductPlan& plan) {
  const auto pack = [&] { return side.packed(i, kernels::Side::Right, plan); };
  const std::optional<WeightBytes> bytes = side.bytes(i);
  if (!bytes)
    return std::make_shared<const kernels::PackedOperand>(pack());
  std::string key = fmt::format("{} {}", side.rows, side.depth);
  for (const kernels::OperandFormat* format : {&plan.left, &plan.right})
    key += fmt::format(" {} {} {} {}", format->element->name,
                       format->scale ? format->scale->name : "", format->across, format->along);
  return packedOnce(key, *bytes, pack);
}

ffi::Error productCall(ffi::AnyBuffer left, ffi::AnyBuffer leftScales,
                       ffi::Buffer<ffi::F32> leftOuter, ffi::AnyBuffer right,
                       ffi::AnyBuffer rightScales, ffi::Buffer<ffi::F32> rightOuter,
                       ffi::Result<ffi::Buffer<ffi::F32>> result, std::string_view leftElement,
                       std::string_view leftScale, std::int64_t leftAcross, std::int64_t leftAlong,
                       std::string_view rightElement, std::string_view rightScale,
                       std::int64_t rightAcross, std::int64_t rightAlong) {
  return answer([&] {
    const auto leftFormat = operandOf(leftElement, leftScale, leftAcross, leftAlong);
    const auto rightFormat = operandOf(rightElement, rightScale, rightAcross, rightAlong);
    if (!rightFormat.scale)
      raise(ErrorClass::Format, "a product: expected scales on the right side, found none");
    const Shape lead = described("left outer", leftOuter).shape;
    ProductSide a(leftFormat, lead, described("left", left), left,
                  described("left scales", leftScales), leftScales,
                  described("left outer", leftOuter), leftOuter);
    ProductSide b(rightFormat, lead, described("right", right), right,
                  described("right scales", rightScales), rightScales,
                  described("right outer", rightOuter), rightOuter);
    if (a.depth != b.depth)
      raise(ErrorClass::Shape, "a product: expected one K, found {} and {}", a.depth, b.depth);
    checkBuffer(described("result", *result), "float32", joined(lead, {a.rows, b.rows}),
                "such a product");
    const auto plan = kernels::productPlan(leftFormat, rightFormat, a.depth, execution().isa);
    if (!plan)
      raise(ErrorClass::Format, "{}", plan.error());
    const std::int64_t area = a.rows * b.rows;
    for (std::int64_t i = 0; i < numerics::elementCount(lead); ++i)
      kernels::multiply(*plan, a.packed(i, kernels::Side::Left, *plan), *packedRight(b, i, *plan),
                        std::span(result->typed_data() + i * area, static_cast<std::size_t>(area)),
                        execution());
  });
}

/// Multiplies a batch of products by the outer scales of both operands, which multiply last (D5). A
/// product by XLA would flush subnormal numbers to 0.
ffi::Error outerCall(ffi::Buffer<ffi::F32> sums, ffi::Buffer<ffi::F32> leftOuter,
                     ffi::Buffer<ffi::F32> rightOuter, ffi::Result<ffi::Buffer<ffi::F32>> result) {
  return answer([&] {
    const Shape lead = described("left outer", leftOuter).shape;
    const Buffer given = described("sums", sums);
    checkLead(given, lead, "the outer scales");
    checkBuffer(described("right outer", rightOuter), "float32", lead, "such a batch");
    checkBuffer(described("result", *result), "float32", given.shape, "such sums");
    const std::int64_t members = numerics::elementCount(lead);
    const std::int64_t area = members == 0 ? 0 : numerics::elementCount(given.shape) / members;
    for (std::int64_t i = 0; i < members; ++i) {
      const float left = leftOuter.typed_data()[i], right = rightOuter.typed_data()[i];
      const float both = left * right;
      const bool isNormal = std::isnormal(both);
      const float* from = sums.typed_data() + i * area;
      float* to = result->typed_data() + i * area;
      for (std::int64_t k = 0; k < area; ++k)
        to[k] = isNormal ? from[k] * both : from[k] * left * right;
    }
  });
}

/// Returns the scales of a state of delayed scaling. Fails if the seal does not match the state.
ffi::Error delayedScalesCall(ffi::Buffer<ffi::F32> scale, ffi::Buffer<ffi::F32> history,
                             ffi::Buffer<ffi::F32> seal,
                             ffi::Result<ffi::Buffer<ffi::F32>> result) {
  return answer([&] {
    const Buffer given = described("scale", scale);
    if (given.shape.empty())
      raise(ErrorClass::Shape, "scale: expected one axis or more, found none");
    const Shape lead(given.shape.begin(), given.shape.end() - 1);
    const std::int64_t tensors = given.shape.back();
    const Buffer amaxes = described("history", history);
    if (amaxes.shape.size() != given.shape.size() + 1 ||
        !std::equal(given.shape.begin(), given.shape.end(), amaxes.shape.begin()))
      raise(ErrorClass::Shape, "history: expected one axis more than scale {}, found {}",
            text(given.shape), text(amaxes.shape));
    checkBuffer(described("seal", seal), "float32", joined(lead, {tensors + 1}), "such scales");
    checkBuffer(described("result", *result), "float32", given.shape, "such scales");
    const auto n = static_cast<std::size_t>(tensors);
    const std::size_t slots = n * static_cast<std::size_t>(amaxes.shape.back());
    for (std::int64_t i = 0; i < numerics::elementCount(lead); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::span scales(scale.typed_data() + at * n, n);
      const std::span own(seal.typed_data() + at * (n + 1), n + 1);
      if (numerics::stateSeal({scales, std::span(history.typed_data() + at * slots, slots),
                               own.subspan(1)}) != own.front())
        raise(ErrorClass::Format, "{}", numerics::kBrokenSeal);
      std::ranges::copy(scales, result->typed_data() + at * n);
    }
  });
}

/// A Buffer of the dtype and shape that octavo.jax passes.
using PartFacts = std::pair<std::string, Shape>;
Buffer buffer(std::string_view name, const PartFacts& facts) {
  return {name, facts.first, facts.second};
}

XLA_FFI_DEFINE_HANDLER(quantizeHandler, quantizeCall,
                       ffi::Ffi::Bind()
                           .Arg<ffi::Buffer<ffi::F32>>()
                           .Arg<ffi::Buffer<ffi::U32>>()
                           .Arg<ffi::Buffer<ffi::F32>>()
                           .Ret<ffi::AnyBuffer>()
                           .Ret<ffi::AnyBuffer>()
                           .Ret<ffi::Buffer<ffi::F32>>()
                           .Attr<std::string_view>("format")
                           .Attr<std::int64_t>("axis_from_end")
                           .Attr<std::string_view>("input")
                           .Attr<std::string_view>("preset")
                           .Attr<std::string_view>("rule")
                           .Attr<std::string_view>("rounding")
                           .Attr<std::string_view>("overflow")
                           .Attr<std::string_view>("nan"));
XLA_FFI_DEFINE_HANDLER(dequantizeHandler, dequantizeCall,
                       ffi::Ffi::Bind()
                           .Arg<ffi::AnyBuffer>()
                           .Arg<ffi::AnyBuffer>()
                           .Arg<ffi::Buffer<ffi::F32>>()
                           .Ret<ffi::Buffer<ffi::F32>>()
                           .Attr<std::string_view>("format")
                           .Attr<std::int64_t>("axis_from_end"));
XLA_FFI_DEFINE_HANDLER(convertHandler, convertCall,
                       ffi::Ffi::Bind()
                           .Arg<ffi::Buffer<ffi::F32>>()
                           .Arg<ffi::Buffer<ffi::U32>>()
                           .Ret<ffi::AnyBuffer>()
                           .Attr<std::string_view>("format")
                           .Attr<std::string_view>("rounding")
                           .Attr<std::string_view>("overflow")
                           .Attr<std::string_view>("nan"));
XLA_FFI_DEFINE_HANDLER(productHandler, productCall,
                       ffi::Ffi::Bind()
                           .Arg<ffi::AnyBuffer>()
                           .Arg<ffi::AnyBuffer>()
                           .Arg<ffi::Buffer<ffi::F32>>()
                           .Arg<ffi::AnyBuffer>()
                           .Arg<ffi::AnyBuffer>()
                           .Arg<ffi::Buffer<ffi::F32>>()
                           .Ret<ffi::Buffer<ffi::F32>>()
                           .Attr<std::string_view>("left_element")
                           .Attr<std::string_view>("left_scale")
                           .Attr<std::int64_t>("left_across")
                           .Attr<std::int64_t>("left_along")
                           .Attr<std::string_view>("right_element")
                           .Attr<std::string_view>("right_scale")
                           .Attr<std::int64_t>("right_across")
                           .Attr<std::int64_t>("right_along"));

XLA_FFI_DEFINE_HANDLER(outerHandler, outerCall,
                       ffi::Ffi::Bind()
                           .Arg<ffi::Buffer<ffi::F32>>()
                           .Arg<ffi::Buffer<ffi::F32>>()
                           .Arg<ffi::Buffer<ffi::F32>>()
                           .Ret<ffi::Buffer<ffi::F32>>());
XLA_FFI_DEFINE_HANDLER(delayedScalesHandler, delayedScalesCall,
                       ffi::Ffi::Bind()
                           .Arg<ffi::Buffer<ffi::F32>>()
                           .Arg<ffi::Buffer<ffi::F32>>()
                           .Arg<ffi::Buffer<ffi::F32>>()
                           .Ret<ffi::Buffer<ffi::F32>>());

} // namespace

void bindJaxCalls(nb::module_& module) {
  module.def(
      "jax_targets",
      [] {
        nb::dict targets;
        const auto add = [&](const char* name, XLA_FFI_Handler* handler) {
          targets[name] = nb::capsule(reinterpret_cast<void*>(handler));
        };
        add("octavo_quantize", quantizeHandler);
        add("octavo_dequantize", dequantizeHandler);
        add("octavo_convert", convertHandler);
        add("octavo_product", productHandler);
        add("octavo_outer", outerHandler);
        add("octavo_delayed_scales", delayedScalesHandler);
        return targets;
      },
      DefaultFloats(), nb::sig("def jax_targets() -> dict[str, typing.Any]"),
      "The targets of octavo.jax by name, for jax.ffi.register_ffi_target.");
  module.def(
      "jax_array", [](nb::handle x, const std::string& name) { return toArray(x, name).numpy; },
      DefaultFloats(), nb::arg("x"), nb::arg("name"),
      nb::sig("def jax_array(x: typing.Any, name: str) -> numpy.typing.NDArray[typing.Any]"),
      "The NumPy array of another library's array, for jax.numpy. Raises DtypeError.");
  module.def(
      "jax_check_options",
      [](const std::string& format, const std::optional<std::string>& rule,
         const std::optional<std::string>& preset, const std::optional<std::string>& rounding,
         const std::optional<std::string>& overflow, const std::optional<std::string>& nan,
         bool hasOuter) {
        const format::ScaledFormat& row = scaledFormat(format);
        const auto options = quantizeOptions(row, {rule, preset, rounding, overflow, nan});
        if (hasOuter)
          checkTakesOuter(row, options);
      },
      DefaultFloats(), nb::arg("format"), nb::arg("rule").none(), nb::arg("preset").none(),
      nb::arg("rounding").none(), nb::arg("overflow").none(), nb::arg("nan").none(),
      nb::arg("has_outer"), "Raises FormatError for an unknown choice.");
  module.def(
      "jax_check_conversion",
      [](const std::string& roundingName, const std::string& overflowName,
         const std::string& nanName) {
        rounding(roundingName);
        overflow(overflowName);
        nanCode(nanName);
      },
      DefaultFloats(), nb::arg("rounding"), nb::arg("overflow"), nb::arg("nan"),
      "Raises FormatError for an unknown choice.");
  module.def(
      "jax_scale_shape",
      [](const std::string& format, const Shape& shape, int axis) {
        return format::scaleShape(
            shape, scaledType(scaledFormat(format), shape, axisOf(axis, shape, "axis")).block);
      },
      DefaultFloats(), nb::arg("format"), nb::arg("shape"), nb::arg("axis"),
      "The shape of the scales of a tensor of this shape.");
  module.def(
      "jax_parts",
      [](const std::string& formatName, std::int64_t axisFromEnd, const PartFacts& elements,
         const PartFacts& scales, const PartFacts& outer) {
        const format::ScaledFormat& format = scaledFormat(formatName);
        const Buffer given = buffer("elements", elements);
        const ScaledBatch batch = scaledBatch(format, given, outer.second.size(), axisFromEnd);
        checkParts(batch, jaxDtype(*format.element), given, buffer("scales", scales),
                   buffer("outer", outer));
        return std::pair(batch.shape, batch.type.block);
      },
      DefaultFloats(), nb::arg("format"), nb::arg("axis_from_end"), nb::arg("elements"),
      nb::arg("scales"), nb::arg("outer"),
      "The shape of a member of a batch of scaled tensors, and the shape of its blocks. Each part "
      "is "
      "the\nname of its dtype and its shape. Raises the errors that the kernels would raise later, "
      "in "
      "the\ncompiled program.");
  module.def(
      "jax_values",
      [](const std::string& name) {
        const format::ElementFormat* format = format::findElementFormat(name);
        std::vector<double> values;
        for (std::uint32_t code = 0; format && code < format->codeCount(); ++code)
          values.push_back(numerics::decode(*format, code));
        return values;
      },
      DefaultFloats(), "The value of each code of an element format, in the order of the codes.");
  module.def(
      "jax_product_refusal",
      [](const std::string& leftElement, const std::string& leftScale, std::int64_t leftAcross,
         std::int64_t leftAlong, const std::string& rightElement, const std::string& rightScale,
         std::int64_t rightAcross, std::int64_t rightAlong,
         std::int64_t depth) -> std::optional<std::string> {
        const auto left = operandOf(leftElement, leftScale, leftAcross, leftAlong);
        const auto right = operandOf(rightElement, rightScale, rightAcross, rightAlong);
        const auto plan = kernels::productPlan(left, right, depth, execution().isa);
        return plan ? std::nullopt : std::optional(plan.error());
      },
      DefaultFloats(), "Why octavo_product cannot multiply these operands; None if it can.");
}

} // namespace octavo::python
