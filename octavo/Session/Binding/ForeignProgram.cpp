#include "octavo/Session/Binding/ForeignProgram.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <system_error>

namespace octavo::session {

namespace {

namespace fs = std::filesystem;

constexpr const char* kPyTorch =
    "torch_mlir.fx.export_and_import(model, *arguments, output_type=\"stablehlo\") gives the "
    "program (examples/pytorch)";

/// One field of a protobuf message.
struct Field {
  std::uint64_t number = 0;
  unsigned wireType = 0;
  std::uint64_t value = 0; ///< the value of a varint; else the length of the content
};

bool takeVarint(llvm::StringRef& bytes, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(bytes.front());
    bytes = bytes.drop_front();
    value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if ((byte & 0x80U) == 0)
      return true;
  }
  return false;
}

/// Takes the next field (varint, 64 bits, bytes or 32 bits). False if there is none.
bool takeField(llvm::StringRef& bytes, Field& field) {
  std::uint64_t tag = 0;
  if (!takeVarint(bytes, tag))
    return false;
  field = {.number = tag >> 3, .wireType = static_cast<unsigned>(tag & 7)};
  switch (field.wireType) {
  case 0:
    return takeVarint(bytes, field.value);
  case 1:
    field.value = 8;
    break;
  case 2:
    if (!takeVarint(bytes, field.value))
      return false;
    break;
  case 5:
    field.value = 4;
    break;
  default:
    return false;
  }
  if (field.value > bytes.size())
    return false;
  bytes = bytes.drop_front(field.value);
  return true;
}

/// Whether the bytes are a complete message with fields of onnx.ModelProto only (onnx.proto),
/// including ir_version and the graph.
bool isOnnx(llvm::StringRef bytes) {
  constexpr std::uint64_t kIrVersion = 1, kGraph = 7;
  bool hasVersion = false, hasGraph = false;
  for (Field field; !bytes.empty();) {
    if (!takeField(bytes, field))
      return false;
    const bool isNumber = field.number == kIrVersion || field.number == 5; // model_version
    const bool isKnown = field.number <= 8 || field.number == 14 || field.number == 20 ||
                         field.number == 25 || field.number == 26;
    if (field.number == 0 || !isKnown || field.wireType != (isNumber ? 0U : 2U))
      return false;
    hasVersion |= field.number == kIrVersion && field.value > 0 && field.value < 1000;
    hasGraph |= field.number == kGraph;
  }
  return hasVersion && hasGraph;
}

/// Describes a zip archive by the names of its entries.
std::string describeZip(llvm::StringRef bytes, llvm::StringRef name) {
  if (bytes.contains("serialized_exported_program.json") || bytes.contains("archive_format") ||
      name.ends_with(".pt2"))
    return fmt::format("is a program of torch.export (.pt2), which octavo does not read; with "
                       "model = torch.export.load(FILE).module(), {}",
                       kPyTorch);
  if (bytes.contains("constants.pkl") && bytes.contains("/code/"))
    return fmt::format("is TorchScript, which octavo does not read; of the model itself, {}",
                       kPyTorch);
  if (bytes.contains("data.pkl"))
    return fmt::format("is what torch.save writes, weights or a pickled model, and no program; {}, "
                       "and safetensors.torch.save_file writes weights that --weights takes",
                       kPyTorch);
  if (bytes.contains("model.weights.h5"))
    return "is a Keras model; with Keras on JAX, jax.export.export(jax.jit(function))(...)"
           ".serialize() gives a program that octavo reads";
  if (bytes.contains(".npy"))
    return "is a file of NumPy arrays (.npz), and no program";
  return "is a zip archive, and no program that octavo reads; unpack it, or export the program as "
         "StableHLO";
}

/// Whether the bytes begin with the length of a JSON header and the header.
bool isSafetensors(llvm::StringRef bytes) {
  if (bytes.size() < 10)
    return false;
  const std::uint64_t length = llvm::support::endian::read64le(bytes.data());
  return bytes[8] == '{' && length >= 2 && length <= bytes.size() - 8 &&
         llvm::StringRef(bytes.substr(8, length)).rtrim().ends_with("}");
}

} // namespace

std::optional<std::string> foreignProgram(llvm::StringRef bytes, llvm::StringRef name) {
  if (isOnnx(bytes) || (name.ends_with(".onnx") && bytes.starts_with("\x08")))
    return "is an ONNX model, which octavo does not read: it reads StableHLO. Export the model "
           "from where it was made (JAX: jax.export; PyTorch: torch_mlir, examples/pytorch); with "
           "the ONNX file alone, jaxonnxruntime makes a JAX function of it for jax.export";
  if (bytes.starts_with("PK\x03\x04"))
    return describeZip(bytes, name);
  if (bytes.size() > 2 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5)
    return fmt::format("is a pickle, such as an old .pth of torch.save, and no program; {}, and "
                       "safetensors.torch.save_file writes weights that --weights takes",
                       kPyTorch);
  if (bytes.substr(4, 4) == "TFL3")
    return "is a TensorFlow Lite model, which octavo does not read; export the model as StableHLO "
           "(jax.export, or tf.function with experimental_get_compiler_ir(stage=\"stablehlo\"))";
  if (isSafetensors(bytes))
    return "is a file of weights (safetensors), and no program; give it with --weights, beside the "
           "program; `octavo checkpoint` inspects, checks and converts it";
  if (bytes.starts_with("GGUF"))
    return "is a file of weights (GGUF), which octavo does not read, and no program";
  if (bytes.starts_with("\x93NUMPY"))
    return "is an array (.npy), and no program; give it with --input, beside the program";
  if (bytes.starts_with("\x89HDF\r\n\x1a\n"))
    return "is an HDF5 file, such as Keras's weights, and no program that octavo reads; export the "
           "model as StableHLO";
  if (bytes.starts_with("HloModule"))
    return "is XLA's HLO text; octavo reads StableHLO, which JAX gives before XLA compiles it: "
           "jax.jit(function).lower(...).as_text()";
  return std::nullopt;
}

std::optional<std::string> foreignFolder(const fs::path& folder) {
  std::error_code failed;
  if (!fs::is_directory(folder, failed))
    return std::nullopt;
  if (fs::exists(folder / "saved_model.pb", failed))
    return "is TensorFlow's SavedModel, which octavo does not read; export the model as StableHLO "
           "(jax.export, or tf.function with experimental_get_compiler_ir(stage=\"stablehlo\"))";
  if (fs::exists(folder / "program.octavo", failed))
    return std::nullopt;
  bool isCheckpoint = fs::exists(folder / "config.json", failed);
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
    isCheckpoint |= at->path().extension() == ".safetensors";
  if (isCheckpoint)
    return fmt::format("is a checkpoint, not a program: `octavo checkpoint inspect {0}` and "
                       "`octavo checkpoint quantize {0}` take it; a program is StableHLO, whose "
                       "weights --weights FILE.safetensors gives",
                       folder.string());
  return std::nullopt;
}

} // namespace octavo::session
