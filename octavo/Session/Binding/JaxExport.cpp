#include "octavo/Session/Binding/JaxExport.h"

#include "octavo/Dialect/VHLO/Artifact.h"
#include "octavo/Session/Binding/JaxExport_generated.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdint>

namespace octavo::session {

namespace {

/// Limits of flatbuffers' verifier: trees of arguments nest, but a container must not be a bomb.
constexpr flatbuffers::uoffset_t kMostDepth = 256;
constexpr flatbuffers::uoffset_t kMostTables = 1 << 22;

/// The supported versions of the calling convention. Before 9, main had other tokens (2024-03).
constexpr int kOldestConvention = 9;
constexpr int kNewestConvention = 10;

/// The version that JAX 0.10.2 writes, which readers of all versions accept.
constexpr std::uint16_t kSerializationVersion = 3;

enum PyTree : std::int8_t { kLeaf = 0, kTuple = 2, kDict = 4 };

const jax::Exported* rootOf(llvm::StringRef bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  flatbuffers::Verifier verifier(data, bytes.size(), kMostDepth, kMostTables);
  return bytes.size() >= 8 && jax::VerifyExportedBuffer(verifier) ? jax::GetExported(data)
                                                                  : nullptr;
}

llvm::StringRef artifactOf(const jax::Exported* root) {
  const auto* bytes = root ? root->mlir_module_serialized() : nullptr;
  return bytes ? llvm::StringRef(reinterpret_cast<const char*>(bytes->data()), bytes->size())
               : llvm::StringRef();
}

/// JAX's number for an element type; nullopt if it has no such arrays.
std::optional<std::int8_t> dtypeOf(mlir::Type type) {
  struct Row {
    llvm::StringLiteral name;
    std::int8_t number;
  };
  static constexpr Row kRows[] = {{"i1", 0},
                                  {"i8", 1},
                                  {"i16", 2},
                                  {"i32", 3},
                                  {"i64", 4},
                                  {"ui8", 5},
                                  {"ui16", 6},
                                  {"ui32", 7},
                                  {"ui64", 8},
                                  {"f16", 9},
                                  {"f32", 10},
                                  {"f64", 11},
                                  {"complex<f32>", 12},
                                  {"complex<f64>", 13},
                                  {"bf16", 14},
                                  {"i4", 15},
                                  {"ui4", 16},
                                  {"f8E4M3B11FNUZ", 17},
                                  {"f8E4M3FN", 18},
                                  {"f8E4M3FNUZ", 19},
                                  {"f8E5M2", 20},
                                  {"f8E5M2FNUZ", 21},
                                  {"f8E4M3", 23},
                                  {"f8E3M4", 24},
                                  {"f8E8M0FNU", 25},
                                  {"f4E2M1FN", 26}};
  std::string name;
  llvm::raw_string_ostream(name) << type;
  for (const Row& row : kRows)
    if (row.name == name)
      return row.number;
  return std::nullopt;
}

std::unique_ptr<jax::PyTreeDefT> tree(std::int8_t kind, std::size_t leaves) {
  auto node = std::make_unique<jax::PyTreeDefT>();
  node->kind = kind;
  for (std::size_t i = 0; i < leaves; ++i)
    node->children.push_back(tree(kLeaf, 0));
  return node;
}

llvm::Error addAvals(std::vector<std::unique_ptr<jax::AbstractValueT>>& avals,
                     llvm::ArrayRef<mlir::Type> types, llvm::StringRef what) {
  for (const mlir::Type type : types) {
    const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    const std::optional<std::int8_t> dtype =
        tensor ? dtypeOf(tensor.getElementType()) : std::nullopt;
    if (!dtype || !tensor.hasStaticShape()) {
      std::string text;
      llvm::raw_string_ostream(text) << type;
      return llvm::createStringError(what + " " + llvm::Twine(avals.size()) + " is " + text +
                                     ", of which JAX's container holds no array; write an artifact "
                                     "or text");
    }
    auto aval = std::make_unique<jax::AbstractValueT>();
    for (const std::int64_t extent : tensor.getShape())
      aval->shape.push_back(std::to_string(extent));
    aval->dtype = *dtype;
    avals.push_back(std::move(aval));
  }
  return llvm::Error::success();
}

} // namespace

JaxExport::JaxExport(std::unique_ptr<jax::ExportedT> table) : table(std::move(table)) {}
JaxExport::JaxExport(JaxExport&&) noexcept = default;
JaxExport& JaxExport::operator=(JaxExport&&) noexcept = default;
JaxExport::~JaxExport() = default;

bool JaxExport::holds(llvm::StringRef bytes) { return vhlo::isBytecode(artifactOf(rootOf(bytes))); }

llvm::Expected<JaxExport> JaxExport::read(llvm::StringRef bytes) {
  const jax::Exported* root = rootOf(bytes);
  if (!vhlo::isBytecode(artifactOf(root)))
    return llvm::createStringError(
        "is not what jax.export serializes: its tables do not lead to an "
        "artifact; the file may be cut short");
  std::unique_ptr<jax::ExportedT> table(root->UnPack());
  if (table->calling_convention_version < kOldestConvention ||
      table->calling_convention_version > kNewestConvention)
    return llvm::createStringError(
        "has the calling convention " + llvm::Twine(table->calling_convention_version) +
        " of jax.export; octavo knows " + llvm::Twine(kOldestConvention) + " and " +
        llvm::Twine(kNewestConvention) + ": export it anew with JAX 0.10");
  return JaxExport(std::move(table));
}

llvm::Expected<JaxExport> JaxExport::of(llvm::StringRef name, mlir::FunctionType type) {
  auto table = std::make_unique<jax::ExportedT>();
  table->serialization_version = kSerializationVersion;
  table->function_name = name.str();
  if (llvm::Error error = addAvals(table->in_avals, type.getInputs(), "argument"))
    return std::move(error);
  if (llvm::Error error = addAvals(table->out_avals, type.getResults(), "result"))
    return std::move(error);
  table->in_tree = tree(kTuple, 0);
  table->in_tree->children.push_back(tree(kTuple, type.getNumInputs()));
  table->in_tree->children.push_back(tree(kDict, 0));
  table->out_tree = type.getNumResults() == 1 ? tree(kLeaf, 0) : tree(kTuple, type.getNumResults());
  table->nr_devices_short = 1;
  table->nr_devices = 1;
  for (std::size_t i = 0; i < table->in_avals.size(); ++i) {
    table->in_shardings.push_back(std::make_unique<jax::ShardingT>());
    table->module_kept_var_idx.push_back(static_cast<std::uint16_t>(i));
  }
  for (std::size_t i = 0; i < table->out_avals.size(); ++i)
    table->out_shardings.push_back(std::make_unique<jax::ShardingT>());
  table->platforms = {"cpu"};
  table->calling_convention_version = kNewestConvention;
  return JaxExport(std::move(table));
}

llvm::StringRef JaxExport::artifact() const {
  return {reinterpret_cast<const char*>(table->mlir_module_serialized.data()),
          table->mlir_module_serialized.size()};
}

void JaxExport::setArtifact(llvm::StringRef bytes) {
  table->mlir_module_serialized.assign(bytes.begin(), bytes.end());
}

void JaxExport::dropDerivatives() { table->vjp.reset(); }

const std::vector<std::string>& JaxExport::platforms() const { return table->platforms; }

int JaxExport::callingConvention() const { return table->calling_convention_version; }

std::string JaxExport::bytes() const {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(jax::Exported::Pack(builder, table.get()));
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

} // namespace octavo::session
