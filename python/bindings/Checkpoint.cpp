// octavo.checkpoint: a checkpoint as a mapping from names to arrays and scaled tensors, which are
// read on access.
#include "python/bindings/Bindings.h"
#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"
#include "python/bindings/FileTypes.h"
#include "python/bindings/FloatGuard.h"
#include "python/bindings/Interruptible.h"
#include "python/bindings/Options.h"
#include "python/bindings/ScaledTensor.h"

#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Checkpoint/Lint/Lint.h"
#include "octavo/Checkpoint/StoredCode.h"
#include "octavo/Checkpoint/WeightsWriter.h"
#include "octavo/Kernels/Convert.h"
#include "octavo/Kernels/Pack.h"

#include <fmt/ranges.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace octavo::python {

namespace nb = nanobind;
using checkpoint::Finding;
using checkpoint::Folder;
using checkpoint::Inventory;
using checkpoint::Layer;
using checkpoint::LayerReader;
using checkpoint::StoredTensor;

namespace {

using Place = std::variant<const Layer*, const StoredTensor*>;

const checkpoint::Layout& layoutNamed(const std::string& name) {
  if (const checkpoint::Layout* layout = checkpoint::findLayout(name))
    return *layout;
  std::vector<std::string_view> known;
  for (const checkpoint::Layout* each : checkpoint::layouts())
    known.push_back(each->name());
  raise(ErrorClass::Format, "unknown layout \"{}\"; available: {}", name, fmt::join(known, ", "));
}

/// An opened checkpoint. The shards are open and the layers are known; no weight has been read.
class Checkpoint {
public:
  Checkpoint(Folder opened, const std::optional<std::string>& layout)
      : folder(std::make_unique<Folder>(std::move(opened))),
        detected(
            checkpoint::layoutOf(*folder, layout ? &layoutNamed(*layout) : nullptr, findings)) {
    if (detected.isForeign)
      raise(ErrorClass::File, "{}", checkpoint::foreignLayout(*folder, detected).message());
    inventory = detected.layout->read(*folder, findings);
    if (auto done = checkpoint::refuseCodesAlone(*folder, *detected.layout, inventory); !done)
      raise(ErrorClass::File, "{}", done.error().message());
    for (const Layer& layer : inventory.layers)
      places.emplace(layer.name + "." + layer.parameter, &layer);
    for (const StoredTensor& tensor : inventory.plain)
      places.emplace(tensor.name(), &tensor);
  }

  std::unique_ptr<Folder> folder; ///< StoredTensor refers to it, so its address must not change
  checkpoint::Findings findings;
  checkpoint::DetectedLayout detected;
  Inventory inventory;
  std::map<std::string, Place, std::less<>> places; ///< by the names that keys() returns
};

/// A tensor that is not quantized, as a new array.
nb::object plainArray(const StoredTensor& tensor) {
  return readTensor(*tensor.shard, *tensor.entry).numpy;
}

LayerReader readerOf(const Layer& layer) { return valueOf(LayerReader::open(layer)); }

/// The scales in the format `wanted`. That is exact: if `wanted` is f32, it holds every stored
/// scale.
Array scalesOf(const LayerReader& reader, const Shape& grid, const ElementFormat& wanted) {
  const ElementFormat& stored = *reader.layer().type.scale;
  const std::int64_t count = reader.scaleCount(0, reader.rows());
  const Array scales = emptyArray(grid, wanted);
  if (static_cast<std::int64_t>(scales.size()) != count)
    raise(ErrorClass::File, "{}: expected a grid of {} scales, found {}", reader.layer().name,
          scales.size(), count);
  checkpoint::Fetched fetched;
  if (stored == wanted) {
    valueOf(reader.scales(0, reader.rows(), scales.data, fetched));
    return scales;
  }
  std::vector<std::byte> codes(static_cast<std::size_t>(count) * stored.bytes());
  valueOf(reader.scales(0, reader.rows(), codes.data(), fetched));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(
        numerics::decode(stored, checkpoint::codeAt(stored, codes.data() + i * stored.bytes())));
    std::memcpy(scales.data + i * sizeof(float), &value, sizeof(float));
  }
  return scales;
}

ScaledTensor scaledTensorOf(const Layer& layer) {
  if (!layer.format)
    raise(ErrorClass::Format,
          "{}: {} elements with {} scales in blocks of {} are not a scaled format of octavo; "
          "dequantize(name) gives their values",
          layer.name, layer.type.element->name, layer.type.scale->name, text(layer.type.block));
  const LayerReader reader = readerOf(layer);
  if (reader.hasOuterPerExpert())
    raise(
        ErrorClass::Format,
        "{}: its {} experts have an outer scale each, and a ScaledTensor has one; dequantize(name) "
        "reads what they stand for, outer_scale(name) those scales",
        layer.name, layer.shape[0]);
  const int axis = static_cast<int>(layer.shape.size()) - 1;
  const Array elements = emptyArray(layer.shape, *layer.format->element);
  const Shape grid =
      format::scaleShape(layer.shape, scaledType(*layer.format, layer.shape, axis).block);
  const Array scales = scalesOf(reader, grid, *layer.format->scale);
  valueOf(withoutLock([&] {
    checkpoint::Fetched fetched;
    return reader.codes(0, reader.rows(), reinterpret_cast<std::uint8_t*>(elements.data), fetched,
                        execution());
  }));
  ScaledTensor tensor = makeScaledTensor(
      elements, scales, layer.format->hasOuterScale ? reader.outer() : 1.0f, *layer.format, axis);
  tensor.divisor = reader.divisor();
  return tensor;
}

/// The place of the weight with this name, or of the only weight of the layer with this name; null
/// if there is none.
const Place* findPlace(const Checkpoint& checkpoint, const std::string& name) {
  if (const auto found = checkpoint.places.find(name); found != checkpoint.places.end())
    return &found->second;
  const Place* place = nullptr;
  for (const Layer& layer : checkpoint.inventory.layers)
    if (layer.name == name) {
      if (place)
        return nullptr;
      place = &checkpoint.places.find(layer.name + "." + layer.parameter)->second;
    }
  return place;
}

[[noreturn]] void raiseKey(const std::string& message) {
  PyErr_SetObject(PyExc_KeyError, pythonText(message).ptr());
  throw nb::python_error();
}

const Place& placeOf(const Checkpoint& checkpoint, const std::string& name) {
  const Place* place = findPlace(checkpoint, name);
  if (!place)
    raiseKey(fmt::format("no weight is named {} in {}; keys() lists them",
                         checkpoint::inQuotes(name), checkpoint.folder->path().string()));
  return *place;
}

nb::object get(nb::handle self, const std::string& name) {
  const auto& place = placeOf(nb::cast<const Checkpoint&>(self), name);
  if (const auto* layer = std::get_if<const Layer*>(&place))
    return nb::cast(scaledTensorOf(**layer));
  return plainArray(*std::get<const StoredTensor*>(place));
}

nb::object dequantized(nb::handle self, const std::string& name) {
  const auto& place = placeOf(nb::cast<const Checkpoint&>(self), name);
  if (const auto* tensor = std::get_if<const StoredTensor*>(&place))
    return plainArray(**tensor).attr("astype")(nb::str("float32"));
  const Layer& layer = *std::get<const Layer*>(place);
  const LayerReader reader = readerOf(layer);
  const Array array = emptyArray(layer.shape, format::element("f32"));
  valueOf(withoutLock([&] {
    checkpoint::Fetched fetched;
    return reader.values(0, reader.rows(), reinterpret_cast<float*>(array.data), fetched,
                         execution());
  }));
  return array.numpy;
}

nb::object mappingView(const char* kind, nb::handle checkpoint) {
  return nb::module_::import_("collections.abc").attr(kind)(checkpoint);
}

/// A scale as it multiplies: a float, or a float32 array if experts or heads have one each. None if
/// there is no such part.
nb::object numbers(const std::optional<checkpoint::Part>& part) {
  if (!part)
    return nb::none();
  const std::vector<float> values = valueOf(checkpoint::multipliers(*part));
  if (values.size() == 1)
    return nb::float_(values.front());
  const Array array =
      emptyArray({static_cast<std::int64_t>(values.size())}, format::element("f32"));
  std::ranges::copy(values, reinterpret_cast<float*>(array.data));
  return array.numpy;
}

/// The layer of this name; null if the weight is not quantized. Raises KeyError.
const Layer* layerOf(const Checkpoint& checkpoint, const std::string& name) {
  const auto* layer = std::get_if<const Layer*>(&placeOf(checkpoint, name));
  return layer ? *layer : nullptr;
}

/// The stored key-value scales of an attention module, by "key" and "value".
nb::dict kvScalesOf(const checkpoint::KvScales& scales) {
  nb::dict found;
  for (const auto& [name, part] :
       {std::pair("key", &scales.key), std::pair("value", &scales.value),
        std::pair("query", &scales.query), std::pair("probability", &scales.probability)}) {
    if (*part)
      found[name] = numbers(*part);
  }
  return found;
}

/// The writer's arguments, and the arrays that own their bytes.
struct Weights {
  std::vector<checkpoint::ScaledWeight> scaled;
  std::vector<checkpoint::PlainWeight> plain;
  std::vector<Array> arrays;

  std::span<const std::byte> keep(const Array& array, std::size_t bytes) {
    arrays.push_back(array);
    return {arrays.back().data, bytes};
  }

  void add(const std::string& name, const ScaledTensor& tensor) {
    if (tensor.axis != static_cast<int>(tensor.shape().size()) - 1 || tensor.shape().size() < 2)
      raise(ErrorClass::Shape,
            "weights[\"{}\"]: expected a matrix with blocks along its last axis, found shape {} "
            "along "
            "axis {}; quantize it with axis=-1",
            name, text(tensor.shape()), tensor.axis);
    const Array elements = rowMajorElements(tensor), scales = contiguous(tensor.scales);
    scaled.push_back({name, tensor.shape(), tensor.format, keep(elements, elements.size()),
                      keep(scales, scales.size() * tensor.type.scale->bytes()), tensor.outer,
                      tensor.divisor});
  }

  void add(const std::string& name, const Array& array) {
    const checkpoint::SafetensorsDtype& dtype =
        safetensorsDtype(array, "weights[\"" + name + "\"]");
    const Array whole = contiguous(array);
    if (dtype.bits >= 8) {
      const auto bytes = whole.size() * static_cast<std::size_t>(dtype.bits / 8);
      plain.push_back({name, &dtype, whole.shape, keep(whole, bytes)});
      return;
    }
    const std::size_t bytes = kernels::packedBytes(whole.size(), dtype.bits);
    const Array packed = emptyOf({static_cast<std::int64_t>(bytes)}, "uint8");
    kernels::pack(reinterpret_cast<const std::uint8_t*>(whole.data), whole.size(), dtype.bits,
                  reinterpret_cast<std::uint8_t*>(packed.data), execution());
    plain.push_back({name, &dtype, whole.shape, keep(packed, bytes)});
  }
};

checkpoint::Findings write(nb::handle pathObject, const nb::dict& weights,
                           const std::string& layoutName, const std::string& configText) {
  const std::filesystem::path path = pathOf(pathObject, "path");
  const checkpoint::Layout& layout = layoutNamed(layoutName);
  checkpoint::Json config = valueOf(checkpoint::parseJson(configText, "config"));
  Weights all;
  for (auto [key, value] : weights) {
    const auto name = nb::cast<std::string>(key);
    if (nb::isinstance<ScaledTensor>(value))
      all.add(name, nb::cast<const ScaledTensor&>(value));
    else
      all.add(name, toArray(value, "weights[\"" + name + "\"]"));
  }
  return valueOf(withoutLock([&] {
    return checkpoint::writeCheckpoint(path, all.scaled, all.plain, layout, std::move(config));
  }));
}

checkpoint::Findings lint(nb::handle pathObject, const std::vector<std::string>& readers) {
  const std::filesystem::path path = pathOf(pathObject, "path");
  checkpoint::LintOptions options = {
      .only = {}, .ignore = {}, .readers = {}, .execution = execution()};
  for (const std::string& name : readers) {
    const auto reader = checkpoint::findReader(name);
    if (!reader) {
      std::vector<std::string_view> known;
      for (checkpoint::Reader each : checkpoint::lintReaders())
        known.push_back(checkpoint::readerName(each));
      raise(ErrorClass::Format, "unknown reader \"{}\"; available: {}", name,
            fmt::join(known, ", "));
    }
    options.readers.push_back(*reader);
  }
  return valueOf(interruptibly(
                     [path, options](const auto&) { return checkpoint::lint(path, options); }))
      .findings;
}

} // namespace

void bindCheckpoint(nb::module_& module) {
  module.def(
      "lint_checkpoint", &lint, DefaultFloats(), nb::arg("path").none(), nb::arg("readers"),
      nb::sig(
          "def lint_checkpoint(path: str | bytes | os.PathLike[str] | os.PathLike[bytes], readers: "
          "collections.abc.Sequence[str]) -> list[Finding]"),
      "Implements octavo.checkpoint.lint.");
  module.def("write_checkpoint", &write, DefaultFloats(), nb::arg("path").none(),
             nb::arg("weights"), nb::arg("layout"), nb::arg("config_json"),
             nb::sig("def write_checkpoint(path: str | bytes | os.PathLike[str] | "
                     "os.PathLike[bytes], weights: dict[str, "
                     "ScaledTensor | numpy.typing.ArrayLike], layout: str, config_json: str) -> "
                     "list[Finding]"),
             "Implements octavo.checkpoint.write. The configuration is JSON text.");
  nb::class_<Finding>(
      module, "Finding",
      "A finding of octavo.checkpoint.lint: what is wrong with a checkpoint, and the remedy.")
      .def_prop_ro(
          "rule", [](const Finding& finding) { return finding.rule.text(); },
          "The rule's name, such as \"missing-scale\"; docs/generated/lint-rules.md lists the "
          "rules.")
      .def_prop_ro(
          "severity",
          [](const Finding& finding) {
            return std::string(checkpoint::severityName(finding.severity));
          },
          "\"note\", \"warning\" or \"error\".")
      .def_ro("file", &Finding::file,
              "The file, relative to the checkpoint; empty if the finding is of no single file.")
      .def_ro("tensor", &Finding::tensor,
              "The tensor's name; empty if the finding is of no single tensor.")
      .def_ro("what", &Finding::what, "What was found.")
      .def_ro("why", &Finding::why, "The consequence for programs that read the checkpoint.")
      .def_ro("fix", &Finding::fix, "The remedy.")
      .def(
          "__repr__",
          [](const Finding& finding) {
            return fmt::format("<octavo.checkpoint.Finding {} {}: {}{}{}>",
                               checkpoint::severityName(finding.severity), finding.rule.text(),
                               finding.tensor, finding.tensor.empty() ? "" : ": ", finding.what);
          },
          DefaultFloats());

  nb::class_<Checkpoint>(
      module, "Checkpoint",
      R"(An opened checkpoint: a mapping from the names of weights to their values.

A quantized weight is a ScaledTensor, any other a NumPy array. Each access reads the weight from the
file into new memory. The files stay open until the checkpoint is freed.)",
      nb::is_weak_referenceable())
      .def(
          "__init__",
          [](Checkpoint* self, nb::handle path, const std::optional<std::string>& layout) {
            new (self) Checkpoint(valueOf(Folder::open(pathOf(path, "path"))), layout);
          },
          DefaultFloats(), nb::arg("path").none(), nb::arg("layout") = nb::none(),
          nb::sig("def __init__(self, path: str | bytes | os.PathLike[str] | os.PathLike[bytes], "
                  "layout: str | None = None) -> None"),
          R"(Opens a checkpoint, as octavo.checkpoint.open does.

path: a folder of safetensors shards with its config.json, or a safetensors file.
layout: the layout of the quantized weights; None detects it.

Raises FileError, and FormatError for an unknown layout.)")
      .def_prop_ro(
          "path", [](const Checkpoint& self) { return self.folder->path(); },
          "The checkpoint's folder.")
      .def_prop_ro(
          "layout",
          [](const Checkpoint& self) { return std::string(self.detected.layout->name()); },
          "The layout of the quantized weights, such as \"compressed-tensors\" or \"modelopt\".")
      .def_prop_ro(
          "reason", [](const Checkpoint& self) { return self.detected.reason; },
          "Why octavo takes the checkpoint for one of that layout.")
      .def_prop_ro(
          "findings", [](const Checkpoint& self) { return self.findings; },
          "The findings of opening the checkpoint, which looks at names, shapes and dtypes.\n"
          "octavo.checkpoint.lint also looks at values.")
      .def_prop_ro(
          "config_json", [](const Checkpoint& self) { return self.folder->config().dump(); },
          "The text of config.json; \"null\" if there is none.")
      .def_prop_ro(
          "layers",
          [](const Checkpoint& self) {
            std::vector<std::string> names;
            for (const Layer& layer : self.inventory.layers)
              names.push_back(layer.name + "." + layer.parameter);
            return names;
          },
          "The names of the quantized weights.")
      .def_prop_ro(
          "kv_scales",
          [](const Checkpoint& self) {
            nb::dict modules;
            for (const checkpoint::KvScales& scales : self.inventory.kvScales)
              modules[scales.module.c_str()] = kvScalesOf(scales);
            return modules;
          },
          nb::for_getter(nb::sig("def kv_scales(self) -> dict[str, dict[str, float | "
                                 "numpy.typing.NDArray[numpy.float32]]]")),
          R"(The scales of the key-value cache by attention module: {module: {"key": 0.02, "value": 0.01}}.

A scale is an array if each head has its own. A scale that is absent counts as 1.)")
      .def(
          "input_scale",
          [](const Checkpoint& self, const std::string& name) {
            const Layer* layer = layerOf(self, name);
            return layer ? numbers(layer->inputScale) : nb::none();
          },
          DefaultFloats(), nb::arg("name"),
          nb::sig("def input_scale(self, name: str) -> float | "
                  "numpy.typing.NDArray[numpy.float32] | None"),
          R"(The static scale of a quantized weight's input; codes times it are values.

name: of the weight.

Returns a float, an array [E] if E stacked experts have a scale each, or None if there is none. Raises
KeyError.)")
      .def(
          "outer_scale",
          [](const Checkpoint& self, const std::string& name) {
            const Layer* layer = layerOf(self, name);
            return layer ? numbers(layer->outer) : nb::none();
          },
          DefaultFloats(), nb::arg("name"),
          nb::sig("def outer_scale(self, name: str) -> float | "
                  "numpy.typing.NDArray[numpy.float32] | None"),
          R"(The outer scale of a quantized weight, by which values are multiplied (NVFP4).

name: of the weight.

Returns a float, an array [E] if E stacked experts have a scale each, or None if the format has no
outer scale. Raises KeyError.)")
      .def("dequantize", &dequantized, DefaultFloats(), nb::arg("name"),
           nb::sig("def dequantize(self, name: str) -> numpy.typing.NDArray[numpy.float32]"),
           "The values of the weight `name` as float32, whether it is quantized or not.\n\n"
           "Raises KeyError, FileError.")
      .def(
          "keys",
          [](const Checkpoint& self) {
            std::vector<std::string> names;
            for (const auto& [name, place] : self.places)
              names.push_back(name);
            return names;
          },
          DefaultFloats(), "The names of all weights, sorted.")
      .def(
          "values", [](nb::handle self) { return mappingView("ValuesView", self); },
          DefaultFloats(),
          nb::sig("def values(self) -> collections.abc.ValuesView[ScaledTensor | "
                  "numpy.typing.NDArray[typing.Any]]"),
          "All weights in the order of their names. Iteration reads one weight at a time.")
      .def(
          "items", [](nb::handle self) { return mappingView("ItemsView", self); }, DefaultFloats(),
          nb::sig("def items(self) -> collections.abc.ItemsView[str, ScaledTensor | "
                  "numpy.typing.NDArray[typing.Any]]"),
          "Pairs of name and weight. Iteration reads one weight at a time.")
      .def(
          "get",
          [](nb::handle self, nb::handle name, nb::object fallback) {
            return self.attr("__contains__")(name).is(nb::bool_(true)) ? self[name] : fallback;
          },
          DefaultFloats(), nb::arg("name"), nb::arg("default") = nb::none(),
          nb::sig("def get(self, name: str, default: typing.Any = None) -> typing.Any"),
          "The weight `name`, or `default` if there is none. Raises FileError.")
      .def("__getitem__", &get, DefaultFloats(), nb::arg("name"),
           nb::sig("def __getitem__(self, name: str) -> ScaledTensor | numpy.typing.NDArray["
                   "typing.Any]"),
           "The weight `name`. The name of a layer with a single weight stands for that weight.\n\n"
           "Raises KeyError, FileError.")
      .def(
          "__contains__",
          [](const Checkpoint& self, nb::handle name) {
            return nb::isinstance<nb::str>(name) && findPlace(self, nb::cast<std::string>(name));
          },
          DefaultFloats(), nb::arg("name").none(),
          nb::sig("def __contains__(self, name: object, /) -> bool"))
      .def(
          "__len__", [](const Checkpoint& self) { return self.places.size(); }, DefaultFloats())
      .def(
          "__iter__", [](nb::handle self) { return nb::iter(self.attr("keys")()); },
          DefaultFloats(), nb::sig("def __iter__(self) -> typing.Iterator[str]"))
      .def(
          "__repr__",
          [](const Checkpoint& self) {
            return pythonText(
                fmt::format("<octavo.checkpoint.Checkpoint {}: {}, {} weights, {} quantized>",
                            self.folder->path().string(), self.detected.layout->name(),
                            self.places.size(), self.inventory.layers.size()));
          },
          DefaultFloats());
}

} // namespace octavo::python
