// Fuzzes the index of a folder with arbitrary text. What open() accepts, openDamaged() accepts
// without an error finding; what open() refuses, openDamaged() reports. Only shards of the folder
// are opened.

#include "octavo/Checkpoint/Folder.h"

#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

using namespace octavo;
using namespace octavo::checkpoint;

namespace fs = std::filesystem;

namespace {

void require(bool condition) {
  if (!condition)
    std::abort();
}

/// A folder with complete shards, one that is truncated, one with two names, and links to a file
/// outside. Each run writes only the index again.
class Checkpoint {
public:
  Checkpoint() {
    std::string name = (fs::temp_directory_path() / "octavo-fuzz-XXXXXX").string();
    require(::mkdtemp(name.data()));
    base = fs::canonical(name);
    root = base / "model";
    fs::create_directories(root / "sub");
    write(base / "outside.safetensors", {"o"});
    write(root / "a.safetensors", {"x", "y"});
    write(root / "b.safetensors", {"y", "z"});
    write(root / "sub/c.safetensors", {"w"});
    write(root / "torn.safetensors", {"t"});
    fs::resize_file(root / "torn.safetensors", fs::file_size(root / "torn.safetensors") - 1);
    fs::create_symlink("sub/c.safetensors", root / "link.safetensors");
    fs::create_symlink("../outside.safetensors", root / "out.safetensors");
    fs::create_symlink("..", root / "up");
    index = ::open((root / "model.safetensors.index.json").c_str(), O_CREAT | O_WRONLY, 0600);
    require(index >= 0);
  }
  ~Checkpoint() {
    ::close(index);
    fs::remove_all(base);
  }

  void setIndex(const std::uint8_t* data, std::size_t size) {
    require(::ftruncate(index, static_cast<off_t>(size)) == 0);
    require(::pwrite(index, data, size, 0) == static_cast<ssize_t>(size));
  }

  fs::path base, root;

private:
  static void write(const fs::path& path, std::initializer_list<const char*> names) {
    const numerics::Tensor byte =
        numerics::Tensor::zeros(numerics::ElementType(numerics::IntegerType{8, true}), {4});
    std::vector<NamedTensor> tensors;
    for (const char* name : names)
      tensors.push_back({name, &byte});
    require(writeSafetensors(path, tensors).has_value());
  }

  int index;
};

void checkOpened(const Folder& folder, const fs::path& root) {
  for (const std::string& name : folder.shardNames()) {
    const fs::path relative = fs::relative(fs::canonical(root / name), root);
    require(*relative.begin() != ".." && relative != "torn.safetensors");
  }
  for (const StoredTensor& tensor : folder.tensors())
    require(folder.find(tensor.name()) == &tensor && tensor.size() == 4);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Checkpoint checkpoint;
  checkpoint.setIndex(data, size);

  const auto strict = Folder::open(checkpoint.root);
  Findings findings;
  const auto damaged = Folder::openDamaged(checkpoint.root, findings);
  bool hasError = !damaged;
  for (const Finding& finding : findings) {
    require(!finding.what.empty() && !finding.fix.empty());
    hasError |= finding.severity == Severity::Error;
  }
  require(strict.has_value() != hasError);
  if (strict) {
    checkOpened(*strict, checkpoint.root);
    require(strict->tensors().size() == damaged->tensors().size());
  } else {
    require(strict.error().message().size() >= 10);
  }
  if (damaged)
    checkOpened(*damaged, checkpoint.root);
  return 0;
}
