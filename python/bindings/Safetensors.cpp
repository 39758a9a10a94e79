// octavo.save and octavo.load: arrays and scaled tensors in a safetensors file.
//
// A scaled tensor NAME becomes up to three tensors: NAME, the packed elements in their dtype;
// NAME_scale; and NAME_outer_scale if the format has an outer scale. The metadata's entry "octavo"
// lists them:
// {"NAME": {"format": "mxfp4", "axis": 1}}.
#include "python/bindings/Bindings.h"
#include "python/bindings/Errors.h"
#include "python/bindings/Execution.h"
#include "python/bindings/FileTypes.h"
#include "python/bindings/FloatGuard.h"
#include "python/bindings/Options.h"
#include "python/bindings/ScaledTensor.h"

#include "octavo/Checkpoint/Files/Safetensors.h"
#include "octavo/Checkpoint/Files/ShardWriter.h"
#include "octavo/Kernels/Pack.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace octavo::python {

namespace nb = nanobind;
using checkpoint::SafetensorsDtype;
using Json = nlohmann::ordered_json;

constexpr const char* kMetadataKey = "octavo";

static std::string scaleName(const std::string& name) { return name + "_scale"; }
static std::string outerName(const std::string& name) { return name + "_outer_scale"; }

/// A tensor to be written, with one code a byte; writing packs codes of fewer than 8 bits.
struct Planned {
  std::vector<checkpoint::PlannedTensor> tensors;
  std::vector<Array> arrays;

  void add(const std::string& name, const Array& array) {
    const Array whole = contiguous(array);
    tensors.push_back({name, &safetensorsDtype(whole, "tensors[\"" + name + "\"]"), whole.shape});
    arrays.push_back(whole);
  }
};

static void save(const std::filesystem::path& path, const nb::dict& tensors,
                 const std::map<std::string, std::string>& metadata) {
  Planned planned;
  Json scaled = Json::object();
  for (auto [key, value] : tensors) {
    if (!nb::isinstance<nb::str>(key))
      raise(ErrorClass::Dtype, "tensors: expected names as keys, found {}",
            nb::cast<std::string>(nb::repr(key)));
    const auto name = nb::cast<std::string>(key);
    // An octavo.jax.ScaledArray has a method that returns a ScaledTensor.
    const nb::object given =
        nb::hasattr(value, "to_tensor") ? value.attr("to_tensor")() : nb::borrow(value);
    if (!nb::isinstance<ScaledTensor>(given)) {
      planned.add(name, toArray(value, fmt::format("tensors[\"{}\"]", name)));
      continue;
    }
    const auto& tensor = nb::cast<const ScaledTensor&>(given);
    if (const ElementFormat& element = *tensor.type.element; element.safetensors.empty())
      raise(ErrorClass::Dtype,
            "tensors[\"{}\"]: safetensors has no dtype for {}, the element format of {}; save its "
            "codes and scales as arrays",
            name, element.name, tensor.format->name);
    planned.add(name, rowMajorElements(tensor));
    planned.add(scaleName(name), tensor.scales);
    if (tensor.type.hasOuterScale) {
      Array outer = emptyArray({}, format::element("f32"));
      std::memcpy(outer.data, &tensor.outer, sizeof(float));
      planned.add(outerName(name), outer);
    }
    scaled[name] = {{"format", tensor.format->name}, {"axis", tensor.axis}};
  }
  checkpoint::SafetensorsMetadata strings(metadata.begin(), metadata.end());
  if (metadata.contains(kMetadataKey))
    raise(ErrorClass::Format, "metadata: the key \"{}\" is octavo's own", kMetadataKey);
  if (!scaled.empty())
    strings.emplace_back(kMetadataKey, scaled.dump());

  withoutLock([&] {
    auto writer = valueOf(checkpoint::ShardWriter::create(path, planned.tensors, strings));
    for (std::size_t i = 0; i < planned.arrays.size(); ++i) {
      const Array& array = planned.arrays[i];
      const int width = planned.tensors[i].dtype->bits;
      std::vector<std::byte> packed;
      std::span<const std::byte> bytes{
          array.data, checkpoint::storedBytes(*planned.tensors[i].dtype, array.shape)};
      if (width < 8) {
        packed.resize(kernels::packedBytes(array.size(), width));
        kernels::pack(reinterpret_cast<const std::uint8_t*>(array.data), array.size(), width,
                      reinterpret_cast<std::uint8_t*>(packed.data()), execution());
        bytes = packed;
      }
      valueOf(writer.write(i, 0, bytes));
    }
    valueOf(writer.commit());
  });
}

static Array readPart(const checkpoint::SafetensorsFile& file, const std::string& name) {
  if (const auto* entry = file.find(name))
    return readTensor(file, *entry);
  raise(ErrorClass::File,
        "{}: no tensor \"{}\", which the metadata's entry \"{}\" mentions; octavo.save writes both",
        file.name(), name, kMetadataKey);
}

/// The scaled tensor that an entry of the metadata describes.
static ScaledTensor readScaled(const checkpoint::SafetensorsFile& file, const std::string& name,
                               const Json& described) {
  const auto* row =
      described.is_object() && described.contains("format") && described["format"].is_string()
          ? format::findScaledFormat(described["format"].get<std::string>())
          : nullptr;
  if (!row || !described.contains("axis") || !described["axis"].is_number_integer())
    raise(ErrorClass::File,
          "{}: the metadata's entry \"{}\" has no format and axis of this octavo for \"{}\": {}",
          file.name(), kMetadataKey, name, described.dump());
  const Array elements = readPart(file, name), scales = readPart(file, scaleName(name));
  float outer = 1.0f;
  if (row->hasOuterScale) {
    const Array one = readPart(file, outerName(name));
    if (one.format != &format::element("f32") || one.size() != 1)
      raise(ErrorClass::File, "{}: tensor \"{}\": expected one F32, found {} of shape {}",
            file.name(), outerName(name), one.dtype, text(one.shape));
    std::memcpy(&outer, one.data, sizeof(float));
  }
  try {
    return scaledTensorOf(elements.numpy, scales.numpy, *row, described["axis"].get<int>(), outer);
  } catch (const Error& error) {
    raise(ErrorClass::File, "{}: tensor \"{}\": {}", file.name(), name, error.what());
  }
}

static nb::dict load(const std::filesystem::path& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    raise(ErrorClass::File,
          "{}: expected a safetensors file, found a folder; octavo.checkpoint.open reads "
          "checkpoints",
          path.string());
  const auto file = valueOf(checkpoint::SafetensorsFile::open(path));
  Json scaled = Json::object();
  for (const auto& [key, value] : file.metadata())
    if (key == kMetadataKey)
      scaled = Json::parse(value, nullptr, /*allow_exceptions=*/false);
  if (!scaled.is_object())
    raise(ErrorClass::File, "{}: the metadata's entry \"{}\" is not a JSON object", file.name(),
          kMetadataKey);
  nb::dict tensors, parts;
  for (const auto& [name, described] : scaled.items()) {
    tensors[name.c_str()] = nb::cast(readScaled(file, name, described));
    for (const std::string& part : {name, scaleName(name), outerName(name)})
      parts[part.c_str()] = true;
  }
  for (const checkpoint::SafetensorsEntry& entry : file.entries())
    if (!parts.contains(entry.name.c_str()))
      tensors[entry.name.c_str()] = readTensor(file, entry).numpy;
  return tensors;
}

static std::map<std::string, std::string> metadataOf(nb::handle object) {
  std::map<std::string, std::string> metadata;
  if (!nb::try_cast(object, metadata))
    raise(ErrorClass::Dtype,
          "metadata: expected a dict of strings, which is what safetensors has, found {}; "
          "json.dumps(x) turns other objects into strings",
          nb::cast<std::string>(nb::repr(object)));
  return metadata;
}

void bindSafetensors(nb::module_& module) {
  module.def(
      "save",
      [](nb::handle path, nb::handle tensors, nb::handle metadata) {
        if (!nb::hasattr(tensors, "keys"))
          raise(ErrorClass::Dtype, "tensors: expected a dict of tensors by name, found {}",
                nb::type_name(tensors.type()).c_str());
        save(pathOf(path, "path"),
             nb::borrow<nb::dict>(nb::module_::import_("builtins").attr("dict")(tensors)),
             metadataOf(metadata));
      },
      DefaultFloats(), nb::arg("path").none(), nb::arg("tensors").none(), nb::kw_only(),
      nb::arg("metadata").none() = nb::dict(),
      nb::sig("def save(path: str | bytes | os.PathLike[str] | os.PathLike[bytes], tensors: "
              "collections.abc.Mapping[str, typing.Any], *, metadata: "
              "dict[str, str] = {}) -> None"),
      R"(Writes arrays and scaled tensors to a safetensors file. The file appears whole or not at all.

path: of the file, which is replaced if it exists.
tensors: a mapping from names to arrays, ScaledTensor or octavo.jax.ScaledArray. A scaled tensor "w"
    becomes "w" (packed elements in their dtype), "w_scale" and, if its format has an outer scale,
    "w_outer_scale". octavo.load makes one tensor of them again.
metadata: strings to store in the file's header, by name.

Raises FileError, DtypeError.)");
  module.def(
      "load", [](nb::handle path) { return load(pathOf(path, "path")); }, DefaultFloats(),
      nb::arg("path").none(),
      nb::sig("def load(path: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> dict[str, "
              "ScaledTensor | "
              "numpy.typing.NDArray[typing.Any]]"),
      R"(Reads all tensors of a safetensors file.

path: of the file.

Returns a dict by name. Scaled tensors that octavo.save wrote are ScaledTensor; all others are NumPy
arrays. Raises FileError, which names what is damaged and where.)");
}

} // namespace octavo::python
