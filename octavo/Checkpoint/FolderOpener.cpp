// Opens a checkpoint: finds its files, checks that they may be opened, and compares the index with
// the shards.

#include "octavo/Checkpoint/Files/PathWithin.h"
#include "octavo/Checkpoint/Files/TemporaryName.h"
#include "octavo/Checkpoint/Folder.h"

#include "octavo/Checkpoint/FindingRules.h"
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <utility>

namespace octavo::checkpoint {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kShard = ".safetensors";
constexpr std::string_view kIndex = ".safetensors.index.json";
constexpr std::string_view kModelIndex = "model.safetensors.index.json";

/// Weight files that octavo does not read: pickles, which can run code, and other containers.
struct ForeignWeights {
  std::string_view suffix;
  std::string_view what;
  std::string_view fix;
};
constexpr std::string_view kPickle =
    "a pickle can run code when it is loaded, so it is not read: load it in PyTorch with "
    "torch.load(..., weights_only=True) and write it with safetensors.torch.save_file";
constexpr auto kForeignWeights = std::to_array<ForeignWeights>({
    {".bin", "a PyTorch pickle", kPickle},
    {".pt", "a PyTorch pickle", kPickle},
    {".pth", "a PyTorch pickle", kPickle},
    {".ckpt", "a PyTorch pickle", kPickle},
    {".gguf", "GGUF", "use the safetensors files that it was made from"},
    {".npz", "a NumPy archive", "write its arrays with safetensors.numpy.save_file"},
    {".h5", "HDF5", "load it where it was made and write it with safetensors"},
    {".onnx", "ONNX", "use the safetensors files that it was exported from"},
    {".msgpack", "Flax's MessagePack", "load it in Flax and write it with safetensors.flax"},
});

const ForeignWeights* foreignWeights(const fs::path& path) {
  const std::string name = path.filename().string();
  const auto found = std::find_if(kForeignWeights.begin(), kForeignWeights.end(),
                                  [&](const auto& each) { return name.ends_with(each.suffix); });
  return found == kForeignWeights.end() ? nullptr : &*found;
}

/// The parts of a name such as "model-00003-of-00006.safetensors".
struct NumberedShard {
  std::string prefix; ///< including its hyphen: "model-"
  std::string number, total;
};

std::optional<NumberedShard> numberedShard(std::string_view name) {
  if (!name.ends_with(kShard))
    return std::nullopt;
  name.remove_suffix(kShard.size());
  const auto takeNumber = [&] {
    const std::size_t begin = name.find_last_not_of("0123456789") + 1; // 0 if all are digits
    const std::string number(name.substr(begin));
    name = name.substr(0, begin);
    return number;
  };
  const std::string total = takeNumber();
  if (total.empty() || total.size() > 9 || !name.ends_with("-of-"))
    return std::nullopt;
  name.remove_suffix(std::string_view("-of-").size());
  const std::string number = takeNumber();
  if (number.size() != total.size())
    return std::nullopt;
  return NumberedShard{std::string(name), number, total};
}

} // namespace

/// Builds a Folder. A problem becomes a finding if findings are wanted, else an error that ends the
/// opening.
class FolderOpener {
public:
  FolderOpener(UnfinishedJob unfinished, Findings* findings)
      : unfinished(unfinished), findings(findings) {}

  tl::expected<Folder, Error> open(const fs::path& path) {
    std::error_code failed;
    const fs::file_status status = fs::status(path, failed);
    if (status.type() == fs::file_type::none)
      return tl::unexpected(
          Error{.file = path.string(),
                .problem = "cannot be opened: " + failed.message(),
                .fix = "check its permissions and those of the folders above it"});
    if (!fs::exists(status))
      return tl::unexpected(Error{.file = path.string(),
                                  .problem = "there is no such file or folder",
                                  .fix = "check the path"});
    const bool opened = fs::is_directory(status) ? openFolder(path) : openFile(path);
    if (!opened)
      return tl::unexpected(std::move(*error));
    // If problems are findings, one of them may already name the missing shard.
    if (folder.files.empty() && (!findings || !isShardNamed()))
      return tl::unexpected(
          Error{.file = path.string(),
                .problem = "no shard of this checkpoint can be read",
                .found = findings && !findings->empty() ? findings->front().what : "",
                .fix = "copy or download it again"});
    placeTensors();
    if (error)
      return tl::unexpected(std::move(*error));
    return std::move(folder);
  }

private:
  bool isShardNamed() const {
    return std::ranges::any_of(*findings, [](const Finding& finding) {
      return finding.severity == Severity::Error && finding.file.ends_with(kShard);
    });
  }

  /// Records a problem of `rule`. Returns whether to continue.
  bool problem(RuleName rule, Error found) {
    if (!findings) {
      if (!error)
        error = std::move(found);
      return false;
    }
    const std::string prefix = folder.root.string() + "/";
    if (found.file.starts_with(prefix))
      found.file.erase(0, prefix.size());
    Finding problem =
        finding(rule, std::exchange(found.file, ""), std::exchange(found.tensor, ""), "");
    if (!found.fix.empty()) // a fix for this case replaces the rule's general fix
      problem.fix = std::exchange(found.fix, "");
    problem.what = found.message().substr(2); // after the empty file's ": "
    findings->push_back(std::move(problem));
    return true;
  }

  void note(RuleName rule, std::string file, std::string tensor, std::string what) {
    if (findings)
      findings->push_back(finding(rule, std::move(file), std::move(tensor), std::move(what)));
  }

  bool openFile(const fs::path& path) {
    if (const ForeignWeights* foreign = foreignWeights(path)) {
      error = Error{.file = path.string(),
                    .problem = fmt::format("{}, not safetensors", foreign->what),
                    .fix = std::string(foreign->fix)};
      return false;
    }
    if (path.extension() == ".json") {
      error = Error{.file = path.string(),
                    .problem = "describes a checkpoint but is not one",
                    .fix = "name its folder instead"};
      return false;
    }
    folder.singleFile = true;
    folder.root = path.has_parent_path() ? path.parent_path() : fs::path(".");
    auto file = SafetensorsFile::open(path);
    if (!file) {
      if (path.extension() == kShard)
        return problem("torn-shard", std::move(file.error()));
      error = std::move(file.error()); // without the extension of a shard it may be any file
      return false;
    }
    folder.shards.push_back(path.filename().string());
    folder.files.push_back(std::move(*file));
    return true;
  }

  bool openFolder(const fs::path& path) {
    folder.root = path;
    std::error_code failed;
    canonicalRoot = fs::canonical(path, failed);
    std::vector<std::string> names;
    for (auto entry = fs::directory_iterator(path, failed);
         !failed && entry != fs::directory_iterator(); entry.increment(failed))
      if (std::error_code ignored; !entry->is_directory(ignored))
        names.push_back(entry->path().filename().string());
    if (failed) {
      error = Error{.file = path.string(),
                    .problem = "cannot be listed: " + failed.message(),
                    .fix = "check its permissions"};
      return false;
    }
    std::sort(names.begin(), names.end());
    if (std::binary_search(names.begin(), names.end(), kJobFile) &&
        unfinished == UnfinishedJob::Refused &&
        !problem(
            "unfinished-job",
            Error{.file = (path / kJobFile).string(),
                  .problem = "the folder holds an unfinished octavo job, not a whole checkpoint",
                  .fix = "run the command that was writing here again, and let it finish"}))
      return false;
    return readConfiguration(names) && findShards(names) && openShards() && findOthers(names);
  }

  /// Whether a file of the folder may be opened. It must exist, and a link must lead into the
  /// folder or, in a Hugging Face cache (snapshots/REVISION), to the blobs of the same model. If it
  /// may not, reports a problem of `rule`.
  bool mayOpen(const std::string& name, RuleName rule) {
    const fs::path path = folder.root / name;
    std::error_code failed;
    const fs::path target = fs::canonical(path, failed);
    if (failed)
      return problem(rule, Error{.file = path.string(),
                                 .problem = fs::is_symlink(fs::symlink_status(path))
                                                ? "the link is broken"
                                                : "the file is missing",
                                 .fix = "copy or download it again"}) &&
             false;
    const fs::path above = canonicalRoot.parent_path();
    if (isWithin(target, canonicalRoot) ||
        (above.filename() == "snapshots" && isWithin(target, above.parent_path() / "blobs")))
      return true;
    return problem("outside-folder",
                   Error{.file = path.string(),
                         .problem = "the link points outside the checkpoint",
                         .expected = "a file in its folder",
                         .found = inQuotes(target.string()),
                         .fix = "copy the file into the folder if you trust it"}) &&
           false;
  }

  bool readConfiguration(const std::vector<std::string>& names) {
    for (const auto& [name, place] : {std::pair(kConfigFile, &folder.configuration),
                                      std::pair(kQuantConfigFile, &folder.modelOptConfiguration)}) {
      if (!std::binary_search(names.begin(), names.end(), name))
        continue;
      if (!mayOpen(std::string(name), "unreadable-config")) {
        if (error)
          return false;
        continue;
      }
      auto json = readJson(folder.root / name);
      if (json && !json->is_object())
        json = tl::unexpected(Error{.file = (folder.root / name).string(),
                                    .problem = "has the wrong kind of value",
                                    .expected = "an object",
                                    .found = json->type_name(),
                                    .fix = "copy or download it again"});
      if (json)
        *place = std::move(*json);
      else if (!problem("unreadable-config", std::move(json.error())))
        return false;
    }
    return true;
  }

  /// Finds the shards: those that the index names, or without an index all safetensors files.
  /// Returns whether to continue.
  bool findShards(const std::vector<std::string>& names) {
    std::vector<std::string> indices, files;
    for (const std::string& name : names) {
      if (name.ends_with(kIndex))
        indices.push_back(name);
      if (name.ends_with(kShard))
        files.push_back(name);
    }
    const auto model = std::find(indices.begin(), indices.end(), kModelIndex);
    if (model != indices.end())
      folder.index = *model;
    else if (indices.size() == 1)
      folder.index = indices.front();
    else if (indices.size() > 1) {
      error = Error{.file = folder.root.string(),
                    .problem = "more than one index",
                    .expected = std::string(kModelIndex),
                    .found = fmt::format("{} and {}", indices[0], indices[1]),
                    .fix = "keep the right one, or name a single safetensors file"};
      return false;
    }
    if (!folder.index.empty() && !readIndex())
      return false;
    if (folder.shards.empty() && !error) {
      // Beside model.safetensors, other files belong to another model (an adapter, say).
      const bool whole = std::binary_search(files.begin(), files.end(), "model.safetensors");
      folder.shards = whole ? std::vector<std::string>{"model.safetensors"} : files;
      if (!whole && !areAllThere(files))
        return false;
    }
    if (folder.shards.empty()) {
      const auto foreign = std::find_if(names.begin(), names.end(),
                                        [](const auto& name) { return foreignWeights(name); });
      error = Error{.file = folder.root.string(),
                    .problem = "holds no safetensors file",
                    .found = foreign == names.end() ? "" : *foreign,
                    .fix = foreign == names.end() ? "name the folder of a checkpoint"
                                                  : std::string(foreignWeights(*foreign)->fix)};
      if (std::binary_search(names.begin(), names.end(), kJobFile)) {
        error->found = fmt::format("{}, an unfinished octavo job", kJobFile);
        error->fix = "run the command that was writing here again, and let it finish";
      }
      return false;
    }
    for (const std::string& name : files)
      if (!std::binary_search(folder.shards.begin(), folder.shards.end(), name))
        note("extra-shard", name, "", "no index names this file");
    return true;
  }

  /// Without an index, checks the number of shards that their names state. Returns whether to
  /// continue.
  bool areAllThere(const std::vector<std::string>& files) {
    std::map<std::pair<std::string, std::string>, std::set<std::string>> series;
    for (const std::string& name : files)
      if (const auto shard = numberedShard(name))
        series[{shard->prefix, shard->total}].insert(shard->number);
    for (const auto& [which, numbers] : series) {
      const auto& [prefix, total] = which;
      const std::size_t count = std::stoul(total);
      if (numbers.size() >= count)
        continue;
      const std::size_t base = numbers.begin()->find_first_not_of('0') == std::string::npos ? 0 : 1;
      std::size_t first = base;
      for (const std::string& number : numbers)
        first += std::stoul(number) == first;
      const std::string name =
          fmt::format("{}{:0{}}-of-{}{}", prefix, first, total.size(), total, kShard);
      if (!problem("missing-shard",
                   Error{.file = (folder.root / name).string(),
                         .problem = "the file is missing",
                         .expected =
                             fmt::format("{} shards, according to the names of the others", count),
                         .found = fmt::format("{}", numbers.size()),
                         .fix = "copy or download it again; if octavo was writing here, run its "
                                "command again"}))
        return false;
    }
    return true;
  }

  bool readIndex() {
    const fs::path path = folder.root / folder.index;
    if (!mayOpen(folder.index, "bad-index"))
      return !error;
    const auto refuse = [&](std::string problemText, std::string expected, std::string found) {
      return problem("bad-index", Error{.file = path.string(),
                                        .problem = std::move(problemText),
                                        .expected = std::move(expected),
                                        .found = std::move(found),
                                        .fix = "copy or download it again"});
    };
    auto json = readJson(path);
    if (!json)
      return problem("bad-index", std::move(json.error()));
    if (!json->is_object())
      return refuse("has the wrong kind of value", "an object", json->type_name());
    const Json* map = nullptr;
    for (auto& [key, value] : json->items()) {
      if (key == "weight_map")
        map = &value;
      else if (key == "metadata")
        folder.metadata = value;
    }
    if (!map || !map->is_object())
      return refuse("has no weight_map", "an object of tensor names and file names",
                    map ? map->type_name() : "none");
    std::set<std::string> named;
    for (const auto& [tensor, place] : map->items()) {
      if (!place.is_string()) {
        if (!refuse(fmt::format("the file name of {} is not a string", inQuotes(tensor)),
                    "a string", place.type_name()))
          return false;
        continue;
      }
      const auto& name = place.get_ref<const std::string&>();
      const fs::path relative = fs::path(name).lexically_normal();
      if (name.empty() || name.find('\0') != std::string::npos || name.find('\\') != name.npos ||
          relative.is_absolute() || *relative.begin() == ".." || !name.ends_with(kShard)) {
        if (!problem("outside-folder",
                     Error{.file = path.string(),
                           .problem = "names a shard that is not a safetensors file of this folder",
                           .tensor = tensor,
                           .expected = "a relative path without \"..\" that ends in .safetensors",
                           .found = inQuotes(name),
                           .fix = "fix the index; do not use it if you do not trust its origin"}))
          return false;
        continue;
      }
      places.emplace_back(tensor, relative.string()); // "./model.safetensors" is the same file
      named.insert(relative.string());
    }
    folder.shards.assign(named.begin(), named.end());
    return true;
  }

  bool openShards() {
    std::vector<std::string> opened;
    for (const std::string& name : folder.shards) {
      if (!mayOpen(name, "missing-shard")) {
        if (error)
          return false;
        continue;
      }
      auto file = SafetensorsFile::open(folder.root / name);
      if (file) {
        folder.files.push_back(std::move(*file));
        opened.push_back(name);
      } else if (!problem("torn-shard", std::move(file.error()))) {
        return false;
      }
    }
    folder.shards = std::move(opened);
    return true;
  }

  bool findOthers(const std::vector<std::string>& names) {
    std::vector<std::string> others;
    for (const std::string& name : names) {
      if (name == kConfigFile || name == kQuantConfigFile || name.ends_with(kIndex) ||
          name.ends_with(kShard) || foreignWeights(name) || isTemporaryName(name))
        continue;
      std::error_code failed;
      if (fs::is_regular_file(folder.root / name, failed))
        others.push_back(name);
    }
    std::ranges::move(othersBelow(), std::back_inserter(others));
    for (std::string& name : others)
      if (mayOpen(name, "outside-folder"))
        folder.others.push_back(std::move(name));
      else if (error)
        return false;
    return true;
  }

  /// Files of subfolders that are not shards, sorted. Leaves out hidden subfolders, links, and
  /// subfolders with other weights (the same model as originally published, or exported).
  std::vector<std::string> othersBelow() const {
    std::error_code failed;
    std::vector<std::string> below;
    for (auto entry = fs::directory_iterator(folder.root, failed);
         !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
      if (entry->path().filename().string().starts_with('.') || entry->is_symlink(failed) ||
          !entry->is_directory(failed))
        continue;
      std::vector<std::string> names;
      bool isAnother = false;
      for (auto file = fs::recursive_directory_iterator(entry->path(), failed);
           !failed && file != fs::recursive_directory_iterator(); file.increment(failed)) {
        const std::string name = file->path().lexically_relative(folder.root).string();
        if (std::ranges::binary_search(folder.shards, name) ||
            isTemporaryName(file->path().filename().string()))
          continue;
        isAnother |= name.ends_with(kShard) || foreignWeights(name);
        if (file->is_regular_file(failed))
          names.push_back(name);
      }
      if (!isAnother)
        below.insert(below.end(), names.begin(), names.end());
    }
    std::ranges::sort(below);
    return below;
  }

  void placeTensors() {
    std::multimap<std::string_view, std::size_t> copies; // other shards with a tensor
    for (std::size_t i = 0; i < folder.files.size(); ++i)
      for (const SafetensorsEntry& entry : folder.files[i].entries()) {
        const auto [first, isNew] = folder.byName.emplace(entry.name, folder.stored.size());
        if (isNew) {
          folder.stored.push_back({&folder.files[i], &entry});
          shardOf.push_back(i);
          continue;
        }
        copies.emplace(entry.name, i);
        if (!problem("duplicate-tensor",
                     Error{.file = folder.files[i].name(),
                           .problem = "two shards have a tensor of this name",
                           .tensor = entry.name,
                           .expected = "each tensor in one shard",
                           .found = "it in " + folder.shards[shardOf[first->second]] + " too",
                           .fix = "remove one: readers disagree on which counts"})) {
          return;
        }
      }
    if (places.empty())
      return;
    std::vector<bool> listed(folder.stored.size());
    const auto isIn = [&](const std::string& tensor, const std::string& shard) {
      const auto [begin, end] = copies.equal_range(tensor);
      return std::any_of(begin, end,
                         [&](const auto& copy) { return folder.shards[copy.second] == shard; });
    };
    for (const auto& [tensor, name] : places) {
      const auto found = folder.byName.find(tensor);
      const std::string index = (folder.root / folder.index).string();
      const bool shardIsOpen = std::binary_search(folder.shards.begin(), folder.shards.end(), name);
      if (found == folder.byName.end()) {
        if (shardIsOpen && !problem("missing-tensor",
                                    Error{.file = index,
                                          .problem = "the index names a tensor that no shard has",
                                          .tensor = tensor,
                                          .expected = "it in " + name,
                                          .found = "no tensor of that name",
                                          .fix = "copy or download " + name + " again"}))
          return;
        continue;
      }
      listed[found->second] = true;
      const std::string& actual = folder.shards[shardOf[found->second]];
      if (actual != name && shardIsOpen && !isIn(tensor, name) &&
          !problem("misplaced-tensor",
                   Error{.file = index,
                         .problem = "the index names the wrong shard for it",
                         .tensor = tensor,
                         .expected = name,
                         .found = actual,
                         .fix = "fix the index, or write the checkpoint again"}))
        return;
    }
    for (std::size_t i = 0; i < listed.size(); ++i)
      if (!listed[i])
        note("unlisted-tensor", folder.shards[shardOf[i]], folder.stored[i].name(),
             "the index does not list this tensor");
  }

  UnfinishedJob unfinished;
  Findings* findings;
  Folder folder;
  std::optional<Error> error;
  fs::path canonicalRoot;
  std::vector<std::pair<std::string, std::string>> places; ///< entries of the index: tensor, shard
  std::vector<std::size_t> shardOf; ///< shard of each element of folder.stored
};

tl::expected<Folder, Error> Folder::open(const fs::path& path, UnfinishedJob unfinished) {
  return FolderOpener(unfinished, nullptr).open(path);
}

tl::expected<Folder, Error> Folder::openDamaged(const fs::path& path, Findings& findings) {
  return FolderOpener(UnfinishedJob::Refused, &findings).open(path);
}

} // namespace octavo::checkpoint
