#include "octavo/Dialect/StableHLO/Groups.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <numeric>

namespace octavo::stablehlo {

namespace {

using Groups = std::vector<std::vector<std::int64_t>>;

/// The most devices of a mesh. A program that states more is refused; no machine has so many.
constexpr std::int64_t kMaxDevices = std::int64_t{1} << 20;

struct MeshAxis {
  std::string name;
  std::int64_t size;
};

struct Mesh {
  std::vector<MeshAxis> axes;
  mlir::DenseIntElementsAttr deviceIds; ///< null: 0 to n-1
};

/// The mesh of a MeshAttr, or of a symbol: a mesh of any dialect is known by its attribute
/// stablehlo.mesh.
llvm::FailureOr<Mesh> meshOf(mlir::Operation* op, mlir::Attribute attribute) {
  const Checker check(op);
  Mesh mesh;
  if (const auto inlined = llvm::dyn_cast<MeshAttr>(attribute)) {
    for (mlir::Attribute axis : inlined.getAxes()) {
      const auto named = llvm::dyn_cast<MeshAxisAttr>(axis);
      if (!named)
        return check.violated("I3", "the axes of a mesh must be #stablehlo.mesh_axis; found ",
                              axis);
      mesh.axes.push_back({named.getName().str(), named.getSize()});
    }
    mesh.deviceIds = inlined.getDeviceIds();
    return mesh;
  }
  const auto symbol = llvm::dyn_cast<mlir::FlatSymbolRefAttr>(attribute);
  if (!symbol)
    return check.violated("I3", "a mesh must be a symbol or a #stablehlo.mesh; found ", attribute);
  mlir::Operation* named = mlir::SymbolTable::lookupNearestSymbolFrom(op, symbol);
  if (named == nullptr)
    return check.violated("I3", "there is no mesh ", symbol, " in the program");
  const auto fields = named->getAttrOfType<mlir::DictionaryAttr>("stablehlo.mesh");
  const auto axes = fields ? fields.getAs<mlir::ArrayAttr>("axes") : mlir::ArrayAttr();
  if (!axes)
    return check.violated("I3", symbol,
                          " is not a mesh: it has no attribute stablehlo.mesh = {axes "
                          "= [...]}");
  for (mlir::Attribute axis : axes) {
    const auto parts = llvm::dyn_cast<mlir::DictionaryAttr>(axis);
    const auto name = parts ? parts.getAs<mlir::StringAttr>("name") : mlir::StringAttr();
    const auto size = parts ? parts.getAs<mlir::IntegerAttr>("size") : mlir::IntegerAttr();
    if (!name || !size || !size.getValue().isSignedIntN(64))
      return check.violated("I3", "the axes of the mesh ", symbol,
                            " must be {name = \"...\", size = ...}; found ", axis);
    mesh.axes.push_back({name.str(), size.getValue().getSExtValue()});
  }
  mesh.deviceIds = fields.getAs<mlir::DenseIntElementsAttr>("device_ids");
  return mesh;
}

/// A mesh whose axes are split at the boundaries of the sub-axes that are named.
class CutMesh {
public:
  CutMesh(mlir::Operation* op, const Mesh& mesh) : check(op), mesh(mesh) {}

  llvm::FailureOr<Groups> groups(llvm::ArrayRef<mlir::Attribute> references) {
    if (failed(countDevices()) || failed(cut(references)))
      return mlir::failure();
    // Outer: the axes not named, in the mesh's order. Inner: the named axes, in their order.
    std::vector<Piece> order;
    for (const Piece& piece : pieces)
      if (!piece.isNamed)
        order.push_back(piece);
    std::int64_t size = 1;
    for (mlir::Attribute reference : references)
      for (const Piece& piece : pieces)
        if (piece.isNamed && piece.reference == reference) {
          order.push_back(piece);
          size *= piece.size;
        }
    std::vector<std::int64_t> ids(static_cast<std::size_t>(devices));
    if (failed(fillDevices(ids)))
      return mlir::failure();
    Groups groups(static_cast<std::size_t>(devices / size));
    for (std::int64_t place = 0; place < devices; ++place) {
      std::int64_t rest = place, device = 0;
      for (const Piece& piece : llvm::reverse(order)) {
        device += rest % piece.size * piece.stride;
        rest /= piece.size;
      }
      groups[static_cast<std::size_t>(place / size)].push_back(
          ids[static_cast<std::size_t>(device)]);
    }
    return groups;
  }

private:
  struct Piece {
    std::int64_t size, stride;
    bool isNamed;
    mlir::Attribute reference;
  };

  llvm::LogicalResult countDevices() {
    for (const MeshAxis& axis : mesh.axes) {
      if (axis.size < 1)
        return check.violated("I3", "the size of the axis \"", axis.name,
                              "\" of a mesh must be positive; found ", axis.size);
      if (axis.size > kMaxDevices / devices)
        return check.violated("I3", "a mesh of more than ", kMaxDevices, " devices");
      devices *= axis.size;
    }
    return mlir::success();
  }

  llvm::LogicalResult cut(llvm::ArrayRef<mlir::Attribute> references) {
    struct Range {
      std::int64_t begin, end; ///< products of sizes, outermost first
      mlir::Attribute reference;
    };
    std::map<std::string, std::vector<Range>> named;
    for (mlir::Attribute attribute : references) {
      const auto reference = llvm::dyn_cast<AxisRefAttr>(attribute);
      if (!reference)
        return check.violated("I3", "axes must be #stablehlo.axis_ref; found ", attribute);
      const std::string name = reference.getName().str();
      const auto axis =
          llvm::find_if(mesh.axes, [&](const MeshAxis& one) { return one.name == name; });
      if (axis == mesh.axes.end())
        return check.violated("I3", "the mesh has no axis \"", name, "\"");
      Range range{1, axis->size, attribute};
      if (const SubAxisInfoAttr part = reference.getSubAxisInfo()) {
        if (part.getPreSize() < 1 || part.getSize() < 1 || axis->size % part.getPreSize() != 0 ||
            axis->size / part.getPreSize() % part.getSize() != 0)
          return check.violated("I3", "the sub-axis (", part.getPreSize(), ")", part.getSize(),
                                " does not divide the axis \"", name, "\" of size ", axis->size);
        range = {part.getPreSize(), part.getPreSize() * part.getSize(), attribute};
      }
      for (const Range& other : named[name])
        if (range.begin < other.end && other.begin < range.end)
          return check.violated("I3", "the axis \"", name, "\" is named twice");
      named[name].push_back(range);
    }
    std::int64_t inner = devices;
    for (const MeshAxis& axis : mesh.axes) {
      inner /= axis.size;
      std::vector<Range> ranges = named[axis.name];
      llvm::sort(ranges, [](const Range& a, const Range& b) { return a.begin < b.begin; });
      std::int64_t at = 1;
      const auto add = [&](std::int64_t end, bool isNamed, mlir::Attribute reference) {
        pieces.push_back({end / at, inner * (axis.size / end), isNamed, reference});
        at = end;
      };
      for (const Range& range : ranges) {
        if (range.begin % at != 0)
          return check.violated("I3", "the sub-axes of \"", axis.name, "\" do not divide it");
        add(range.begin, false, {});
        add(range.end, true, range.reference);
      }
      add(axis.size, false, {});
    }
    return mlir::success();
  }

  llvm::LogicalResult fillDevices(std::vector<std::int64_t>& ids) const {
    std::iota(ids.begin(), ids.end(), 0);
    if (!mesh.deviceIds)
      return mlir::success();
    if (mesh.deviceIds.getNumElements() != devices)
      return check.violated("I3", "a mesh of ", devices,
                            " devices must have as many device ids; "
                            "found ",
                            mesh.deviceIds.getNumElements());
    for (auto [id, given] : llvm::zip(ids, mesh.deviceIds.getValues<llvm::APInt>()))
      id = given.getSExtValue();
    if (const auto outside = firstOutside(ids, devices))
      return check.violated("I3", "device ids must be in [0, ", devices, "); found ", *outside);
    if (const auto repeated = firstRepeated(ids))
      return check.violated("I3", "device ids must be unique; found ", *repeated, " twice");
    return mlir::success();
  }

  Checker check;
  const Mesh& mesh;
  std::int64_t devices = 1;
  std::vector<Piece> pieces; ///< outermost first
};

} // namespace

std::int64_t channelId(std::optional<ChannelHandleAttr> handle) {
  return handle ? handle->getHandle() : 0;
}

GroupKind reducingGroups(std::int64_t channelId, bool useGlobalDeviceIds) {
  if (channelId <= 0)
    return GroupKind::CrossReplica;
  return useGlobalDeviceIds ? GroupKind::FlattenedIds : GroupKind::CrossReplicaAndPartition;
}

GroupKind exchangingGroups(std::int64_t channelId) {
  return channelId <= 0 ? GroupKind::CrossReplica : GroupKind::CrossPartition;
}

llvm::FailureOr<Groups> groupsOf(mlir::Operation* op, mlir::Attribute replicaGroups) {
  if (const auto axes = llvm::dyn_cast<ReplicaGroupMeshAxesAttr>(replicaGroups)) {
    const llvm::FailureOr<Mesh> mesh = meshOf(op, axes.getMesh());
    return failed(mesh) ? llvm::FailureOr<Groups>(mlir::failure())
                        : CutMesh(op, *mesh).groups(axes.getAxes().getValue());
  }
  const auto matrix = llvm::cast<mlir::DenseIntElementsAttr>(replicaGroups);
  if (matrix.empty())
    return Groups();
  const std::int64_t columns = matrix.getType().getDimSize(1);
  Groups groups(static_cast<std::size_t>(matrix.getType().getDimSize(0)));
  std::int64_t place = 0;
  for (const llvm::APInt& id : matrix) {
    if (!id.isNegative())
      groups[static_cast<std::size_t>(place / columns)].push_back(id.getSExtValue());
    ++place;
  }
  return groups;
}

llvm::FailureOr<Groups> verifyGroups(mlir::Operation* op, const GroupRules& rules,
                                     mlir::Attribute replicaGroups) {
  const Checker check(op);
  const auto matrix = llvm::dyn_cast<mlir::DenseIntElementsAttr>(replicaGroups);
  if (!matrix)
    return groupsOf(op, replicaGroups);
  if (matrix.getType().getRank() != 2)
    return check.violated("I3", "replica_groups must be a matrix, one group a row; found ",
                          matrix.getType());
  // A splat can state any number of ids without storing them, and all of them are equal.
  if (matrix.isSplat() && matrix.getNumElements() > 1) {
    const std::int64_t id = (*matrix.begin()).getSExtValue();
    return id < 0 ? check.violated(rules.inside, "replica_groups must not be negative; found ", id)
                  : check.violated(rules.unique, "replica_groups must be unique; found ", id,
                                   " twice");
  }
  llvm::SmallVector<std::int64_t> ids;
  for (const llvm::APInt& value : matrix) {
    const std::int64_t id = value.getSExtValue();
    if (id != -1 || !rules.mayBePadded)
      ids.push_back(id);
  }
  if (const auto repeated = firstRepeated(ids))
    return check.violated(rules.unique, "replica_groups must be unique; found ", *repeated,
                          " twice");
  const std::int64_t count =
      rules.coversAll ? static_cast<std::int64_t>(ids.size()) : std::int64_t{1} << 32;
  if (const auto outside = firstOutside(ids, count))
    return rules.coversAll
               ? check.violated(rules.inside, "replica_groups must be in [0, ", count,
                                "), the number of ids that it has; found ", *outside)
               : check.violated(rules.inside, "replica_groups must be ids of processes; found ",
                                *outside);
  return groupsOf(op, replicaGroups);
}

llvm::LogicalResult verifyPairs(mlir::Operation* op, const PairRules& rules,
                                mlir::DenseIntElementsAttr pairs) {
  const Checker check(op);
  if (pairs.getType().getRank() != 2 || pairs.getType().getDimSize(1) != 2)
    return check.violated(
        rules.columns, "source_target_pairs must have two columns, a source and a target; found ",
        pairs.getType());
  llvm::SmallVector<std::int64_t> sources, targets;
  // A splat can state any number of pairs; two of them suffice to find the error.
  const std::int64_t rows = pairs.getType().getDimSize(0);
  const auto values = pairs.getValues<llvm::APInt>();
  for (std::int64_t row = 0; row < (pairs.isSplat() ? std::min<std::int64_t>(rows, 2) : rows);
       ++row) {
    sources.push_back(values[static_cast<std::size_t>(2 * row)].getSExtValue());
    targets.push_back(values[static_cast<std::size_t>(2 * row + 1)].getSExtValue());
  }
  for (llvm::ArrayRef<std::int64_t> ids : {llvm::ArrayRef(sources), llvm::ArrayRef(targets)})
    if (const auto outside = firstOutside(ids, std::int64_t{1} << 32))
      return check.violated(rules.inside, "source_target_pairs must be ids of processes; found ",
                            *outside);
  if (const auto repeated = firstRepeated(sources))
    return check.violated(rules.sources, "sources must be unique; found ", *repeated, " twice");
  if (const auto repeated = firstRepeated(targets))
    return check.violated(rules.targets, "targets must be unique; found ", *repeated, " twice");
  return mlir::success();
}

} // namespace octavo::stablehlo
