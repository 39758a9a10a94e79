// What octavo.jax calls through XLA's foreign function interface: the kernels on XLA's buffers.
//
// Leading axes that vmap adds are a batch: each member is a tensor of its own, with an outer scale
// of its own. XLA keeps four-bit elements two a byte, the first in the low bits (Kernels/Pack.h).
#include "python/bindings/Bindings.h"

#include "octavo/Kernels/Convert.h"
#include "octavo/Kernels/Dequantize.h"
#include "octavo/Kernels/Pack.h"
#include "octavo/Kernels/Product/Product.h"
#include "octavo/Kernels/Quantize.h"
#include "octavo/Numerics/Preset.h"
#include "octavo/Numerics/Tensor.h"
#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"
#include "python/bindings/Options.h"
#include "python/bindings/Quantization.h"
#include "python/bindings/ScaledTensor.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <xla/ffi/api/ffi.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::python {

namespace {

namespace ffi = xla::ffi;
namespace nb = nanobind;

template <typename... Arguments>
ffi::Error refuse(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return ffi::Error::InvalidArgument("octavo: " +
                                     fmt::format(text, std::forward<Arguments>(arguments)...));
}

/// Codes of a buffer, one a byte: those of a packed buffer in memory of their own.
class InputCodes {
public:
  InputCodes(const ffi::AnyBuffer& buffer, const format::ElementFormat& format) {
    data = static_cast<const std::uint8_t*>(buffer.untyped_data());
    if (buffer.element_type() != ffi::DataType::F4E2M1FN) {
      const std::size_t n = buffer.element_count();
      valid = firstNoCode(static_cast<const std::byte*>(buffer.untyped_data()), n, format) == n;
      return;
    }
    unpacked.resize(buffer.element_count());
    kernels::unpack(data, unpacked.size(), format.width(), unpacked.data(), execution());
    data = unpacked.data();
  }
  const std::uint8_t* get() const { return data; }
  /// Whether all are codes of the format: six-bit floats come in uint8.
  bool areCodes() const { return valid; }

private:
  std::vector<std::uint8_t> unpacked;
  const std::uint8_t* data;
  bool valid = true;
};

/// The same of a result: `finish` packs what was written.
class OutputCodes {
public:
  OutputCodes(ffi::AnyBuffer buffer, const format::ElementFormat& format)
      : buffer(buffer), width(format.width()),
        isPacked(buffer.element_type() == ffi::DataType::F4E2M1FN) {
    if (isPacked)
      unpacked.resize(buffer.element_count());
  }
  std::uint8_t* get() {
    return isPacked ? unpacked.data() : static_cast<std::uint8_t*>(buffer.untyped_data());
  }
  void finish() {
    if (isPacked)
      kernels::pack(unpacked.data(), unpacked.size(), width,
                    static_cast<std::uint8_t*>(buffer.untyped_data()), execution());
  }

private:
  ffi::AnyBuffer buffer;
  int width;
  bool isPacked;
  std::vector<std::uint8_t> unpacked;
};

/// A batch of tensors of one shape: the extents of the leading axes multiplied, and the rest.
struct Batch {
  std::int64_t count = 1;
  std::vector<std::int64_t> shape;
  std::int64_t size() const { return numerics::elementCount(shape); }
};
Batch batchOf(ffi::Span<const std::int64_t> extents, std::size_t leading) {
  Batch batch;
  for (std::size_t i = 0; i < extents.size(); ++i)
    if (i < leading)
      batch.count *= extents[i];
    else
      batch.shape.push_back(extents[i]);
  return batch;
}

std::optional<numerics::ScaledType> typeOf(std::string_view name, const Batch& batch,
                                           std::int64_t axisFromEnd) {
  const format::ScaledFormat* format = format::findScaledFormat(name);
  const auto rank = static_cast<std::int64_t>(batch.shape.size());
  if (!format || axisFromEnd < 1 || axisFromEnd > rank)
    return std::nullopt;
  return numerics::ScaledType{
      format->element, format->scale,
      format::blockShape(*format, batch.shape, static_cast<int>(rank - axisFromEnd)),
      format->hasOuterScale};
}

/// The settings that names choose; an empty one leaves the preset's, or the default.
std::optional<numerics::QuantizeOptions>
optionsOf(std::string_view formatName, std::string_view input, std::string_view presetName,
          std::string_view rule, std::string_view rounding, std::string_view overflow,
          std::string_view nan) {
  const format::ScaledFormat* format = format::findScaledFormat(formatName);
  if (!format)
    return std::nullopt;
  numerics::QuantizeOptions options = {.rule = format->rule};
  if (!presetName.empty()) {
    const numerics::Preset* preset = numerics::findPreset(presetName, *format);
    if (!preset)
      return std::nullopt;
    options = preset->options;
  }
  options.input = format::findElementFormat(input);
  if (!options.input)
    return std::nullopt;
  const auto choose = [](auto& setting, std::string_view name, auto found) {
    if (found)
      setting = *found;
    return name.empty() || found;
  };
  if (!choose(options.rule, rule, format::findScaleRule(rule)) ||
      !choose(options.rounding, rounding, numerics::findRounding(rounding)) ||
      !choose(options.overflow, overflow, numerics::findOverflow(overflow)) ||
      !choose(options.nonFinite, nan, numerics::findNonFinite(nan)))
    return std::nullopt;
  return options;
}

ffi::Error quantizeCall(ffi::Buffer<ffi::F32> x, ffi::Buffer<ffi::U32> randomBits,
                        ffi::Result<ffi::AnyBuffer> elements, ffi::Result<ffi::AnyBuffer> scales,
                        ffi::Result<ffi::Buffer<ffi::F32>> outer, std::string_view formatName,
                        std::int64_t axisFromEnd, std::string_view input, std::string_view preset,
                        std::string_view rule, std::string_view rounding, std::string_view overflow,
                        std::string_view nan) {
  const Batch batch = batchOf(x.dimensions(), outer->dimensions().size());
  const auto type = typeOf(formatName, batch, axisFromEnd);
  const auto optionsFound = optionsOf(formatName, input, preset, rule, rounding, overflow, nan);
  if (!type || !optionsFound)
    return refuse("quantize: an unknown option: format {}, axis -{}, input {}, preset {}, "
                  "rule {}, rounding {}, overflow {}, nan {}",
                  formatName, axisFromEnd, input, preset, rule, rounding, overflow, nan);
  const numerics::QuantizeOptions& options = *optionsFound;
  OutputCodes codes(*elements, *type->element);
  const std::int64_t size = batch.size();
  const std::int64_t scaleBytes =
      numerics::elementCount(format::scaleShape(batch.shape, type->block)) * type->scale->bytes();
  const bool isStochastic = options.rounding == numerics::Rounding::Stochastic;
  for (std::int64_t i = 0; i < batch.count; ++i) {
    const auto report = kernels::quantize(
        x.typed_data() + i * size, batch.shape, *type, options, codes.get() + i * size,
        static_cast<std::uint8_t*>(scales->untyped_data()) + i * scaleBytes,
        isStochastic ? std::span<const std::uint32_t>(randomBits.typed_data() + i * size,
                                                      static_cast<std::size_t>(size))
                     : std::span<const std::uint32_t>(),
        execution());
    if (report.refused)
      return refuse("quantize: {} at index {} of a tensor; nan=\"propagate\" makes its block NaN",
                    report.refused->value, report.refused->index);
    outer->typed_data()[i] = report.outer;
  }
  codes.finish();
  return ffi::Error::Success();
}

ffi::Error dequantizeCall(ffi::AnyBuffer elements, ffi::AnyBuffer scales,
                          ffi::Buffer<ffi::F32> outer, ffi::Result<ffi::Buffer<ffi::F32>> values,
                          std::string_view formatName, std::int64_t axisFromEnd) {
  const Batch batch = batchOf(elements.dimensions(), outer.dimensions().size());
  const auto type = typeOf(formatName, batch, axisFromEnd);
  if (!type)
    return refuse("dequantize: there is no format {} along axis -{}", formatName, axisFromEnd);
  const InputCodes codes(elements, *type->element);
  if (!codes.areCodes())
    return refuse("dequantize: elements: codes of {} have {} bits", type->element->name,
                  type->element->width());
  const std::int64_t size = batch.size();
  const std::int64_t scaleBytes =
      numerics::elementCount(format::scaleShape(batch.shape, type->block)) * type->scale->bytes();
  for (std::int64_t i = 0; i < batch.count; ++i)
    kernels::dequantize(codes.get() + i * size,
                        static_cast<const std::uint8_t*>(scales.untyped_data()) + i * scaleBytes,
                        outer.typed_data()[i], batch.shape, *type, values->typed_data() + i * size,
                        execution());
  return ffi::Error::Success();
}

ffi::Error convertCall(ffi::Buffer<ffi::F32> x, ffi::Buffer<ffi::U32> randomBits,
                       ffi::Result<ffi::AnyBuffer> codes, std::string_view formatName,
                       std::string_view rounding, std::string_view overflow, std::string_view nan) {
  const format::ElementFormat* format = format::findElementFormat(formatName);
  const auto roundingFound = numerics::findRounding(rounding);
  const auto overflowFound = numerics::findOverflow(overflow);
  const auto nanFound = numerics::findNanCode(nan);
  if (!format || !roundingFound || !overflowFound || !nanFound)
    return refuse("convert: an unknown option: format {}, rounding {}, overflow {}, nan {}",
                  formatName, rounding, overflow, nan);
  OutputCodes output(*codes, *format);
  const bool isStochastic = *roundingFound == numerics::Rounding::Stochastic;
  kernels::convert(*format,
                   {.rounding = *roundingFound, .overflow = *overflowFound, .nan = *nanFound},
                   kernels::WideType::F32, x.typed_data(), output.get(), x.element_count(),
                   isStochastic ? std::span<const std::uint32_t>(randomBits.typed_data(),
                                                                 randomBits.element_count())
                                : std::span<const std::uint32_t>(),
                   execution());
  output.finish();
  return ffi::Error::Success();
}

/// One side of a product as attributes say it: "e4m3fn" with "e8m0fnu" scales on blocks
/// [across, along]; an empty scale name: plain f32.
kernels::OperandFormat operandOf(std::string_view element, std::string_view scale,
                                 std::int64_t across, std::int64_t along) {
  if (scale.empty())
    return kernels::floatOperand();
  return {format::findElementFormat(element), format::findElementFormat(scale), across, along};
}

std::string unpackable(const kernels::OperandFormat& side) {
  return side.scale && (!side.element || side.across < 1 || side.along < 1) ? "no such format" : "";
}

ffi::Error productCall(ffi::AnyBuffer left, ffi::AnyBuffer leftScales,
                       ffi::Buffer<ffi::F32> leftOuter, ffi::AnyBuffer right,
                       ffi::AnyBuffer rightScales, ffi::Buffer<ffi::F32> rightOuter,
                       ffi::Result<ffi::Buffer<ffi::F32>> result, std::string_view leftElement,
                       std::string_view leftScale, std::int64_t leftAcross, std::int64_t leftAlong,
                       std::string_view rightElement, std::string_view rightScale,
                       std::int64_t rightAcross, std::int64_t rightAlong) {
  const std::size_t leading = leftOuter.dimensions().size();
  const Batch a = batchOf(left.dimensions(), leading), b = batchOf(right.dimensions(), leading);
  if (a.shape.size() != 2 || b.shape.size() != 2 || a.count != b.count ||
      a.shape[1] != b.shape[1] || rightScale.empty())
    return refuse("a product of [..., M, K] and scaled [..., N, K] was expected");
  const kernels::OperandFormat leftFormat =
      operandOf(leftElement, leftScale, leftAcross, leftAlong);
  const kernels::OperandFormat rightFormat =
      operandOf(rightElement, rightScale, rightAcross, rightAlong);
  const std::int64_t depth = a.shape[1];
  auto plan = kernels::productPlan(leftFormat, rightFormat, depth, execution().isa);
  if (!plan)
    return refuse("{}", plan.error());

  const InputCodes rightCodes(right, *rightFormat.element);
  const auto view = [&](const kernels::OperandFormat& format, const Batch& batch,
                        const std::uint8_t* codes, const ffi::AnyBuffer& scales, float outer,
                        std::int64_t i) {
    const std::int64_t across = std::min(format.across, std::max<std::int64_t>(batch.shape[0], 1));
    const std::int64_t along = std::min(format.along, std::max<std::int64_t>(depth, 1));
    const std::int64_t blocks =
        (batch.shape[0] + across - 1) / across * ((depth + along - 1) / along);
    return kernels::ScaledView{format.element,
                               format.scale,
                               batch.shape[0],
                               depth,
                               across,
                               along,
                               codes + i * batch.size(),
                               static_cast<const std::uint8_t*>(scales.untyped_data()) +
                                   i * blocks * format.scale->bytes(),
                               format.scale->bytes(),
                               outer};
  };
  std::optional<InputCodes> leftCodes;
  if (leftFormat.scale)
    leftCodes.emplace(left, *leftFormat.element);
  if (!rightCodes.areCodes() || (leftCodes && !leftCodes->areCodes()))
    return refuse("a product: elements: codes of six-bit floats are below 64");
  const std::int64_t area = a.shape[0] * b.shape[0];
  for (std::int64_t i = 0; i < a.count; ++i) {
    const auto packedLeft =
        leftFormat.scale
            ? kernels::pack(
                  view(leftFormat, a, leftCodes->get(), leftScales, leftOuter.typed_data()[i], i),
                  kernels::Side::Left, *plan, execution())
            : kernels::pack(std::span(static_cast<const float*>(left.untyped_data()) + i * a.size(),
                                      static_cast<std::size_t>(a.size())),
                            *plan, execution());
    const auto packedRight = kernels::pack(
        view(rightFormat, b, rightCodes.get(), rightScales, rightOuter.typed_data()[i], i),
        kernels::Side::Right, *plan, execution());
    kernels::multiply(*plan, packedLeft, packedRight,
                      std::span(result->typed_data() + i * area, static_cast<std::size_t>(area)),
                      execution());
  }
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER(quantizeHandler, quantizeCall,
                       ffi::Ffi::Bind()
                           .Arg<ffi::Buffer<ffi::F32>>()
                           .Arg<ffi::Buffer<ffi::U32>>()
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
        return targets;
      },
      nb::sig("def jax_targets() -> dict[str, typing.Any]"),
      "The targets of octavo.jax for jax.ffi.register_ffi_target, by name.");
  module.def(
      "jax_check_options",
      [](const std::string& format, const std::optional<std::string>& rule,
         const std::optional<std::string>& preset, const std::optional<std::string>& rounding,
         const std::optional<std::string>& overflow, const std::optional<std::string>& nan) {
        quantizeOptions(scaledFormat(format), {rule, preset, rounding, overflow, nan});
      },
      nb::arg("format"), nb::arg("rule").none(), nb::arg("preset").none(),
      nb::arg("rounding").none(), nb::arg("overflow").none(), nb::arg("nan").none(),
      "Raises FormatError for an unknown choice.");
  module.def(
      "jax_check_conversion",
      [](const std::string& roundingName, const std::string& overflowName,
         const std::string& nanName) {
        rounding(roundingName);
        overflow(overflowName);
        nanCode(nanName);
      },
      nb::arg("rounding"), nb::arg("overflow"), nb::arg("nan"),
      "Raises FormatError for an unknown choice.");
  module.def(
      "jax_block_shape",
      [](const std::string& format, const Shape& shape, int axis) {
        return format::blockShape(scaledFormat(format), shape, axis);
      },
      "The extents of a block of a tensor of that shape; `axis` counts from the front.");
  module.def(
      "jax_values",
      [](const std::string& name) {
        const format::ElementFormat* format = format::findElementFormat(name);
        std::vector<double> values;
        for (std::uint32_t code = 0; format && code < format->codeCount(); ++code)
          values.push_back(numerics::decode(*format, code));
        return values;
      },
      "The values of a narrow format's codes.");
  module.def(
      "jax_product_refusal",
      [](const std::string& leftElement, const std::string& leftScale, std::int64_t leftAcross,
         std::int64_t leftAlong, const std::string& rightElement, const std::string& rightScale,
         std::int64_t rightAcross, std::int64_t rightAlong,
         std::int64_t depth) -> std::optional<std::string> {
        const auto left = operandOf(leftElement, leftScale, leftAcross, leftAlong);
        const auto right = operandOf(rightElement, rightScale, rightAcross, rightAlong);
        for (const auto& side : {left, right})
          if (auto problem = unpackable(side); !problem.empty())
            return problem;
        const auto plan = kernels::productPlan(left, right, depth, execution().isa);
        return plan ? std::nullopt : std::optional(plan.error());
      },
      "Why octavo_product cannot multiply these operands; None if it can.");
}

} // namespace octavo::python
