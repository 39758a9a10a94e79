#include "octavo/Program/Folder/FolderFile.h"

#include "octavo/Kernels/Bf16Dots.h"
#include "octavo/Kernels/Isa.h"
#include "octavo/Kernels/Product/ProductPlan.h"
#include "octavo/Program/Folder/FolderVersion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace octavo::program {

namespace {

constexpr std::string_view kMagic = "octavo-p", kWeightsMagic = "octavo-w";
/// The version of this file, of the steps within it and of packed weights: FolderVersion.cmake.
constexpr std::uint64_t kVersion = OCTAVO_FOLDER_VERSION;
constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::string_view kKernelsBegin = "kernels-", kKernelsEnd = ".so",
                           kWeightsBegin = "weights-", kWeightsEnd = ".bin";

std::span<const std::byte> charactersOf(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

class Out {
public:
  void word(std::uint64_t value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + kWord);
  }
  void run(std::span<const std::byte> run) {
    word(run.size());
    bytes.insert(bytes.end(), run.begin(), run.end());
  }
  void texts(const std::vector<std::string>& list) {
    word(list.size());
    for (const std::string& text : list)
      run(charactersOf(text));
  }
  void part(const FolderPart& part) {
    word(part.digest);
    word(part.size);
  }
  std::vector<std::byte> bytes;
};

class In {
public:
  explicit In(std::span<const std::byte> bytes) : rest(bytes) {}

  std::uint64_t word() {
    std::uint64_t value = 0;
    if (const auto bytes = take(kWord); !bytes.empty())
      std::memcpy(&value, bytes.data(), kWord);
    return value;
  }
  std::span<const std::byte> run() { return take(word()); }
  std::string text() {
    const auto bytes = run();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::vector<std::string> texts() {
    std::vector<std::string> list;
    for (std::uint64_t count = word(); count > 0 && !isShort; --count)
      list.push_back(text());
    return list;
  }
  std::vector<Donation> donations() {
    std::vector<Donation> list;
    for (std::uint64_t count = word(); count > 0 && !isShort; --count) {
      const std::uint64_t argument = word();
      list.push_back({argument, word()});
    }
    return list;
  }
  FolderPart part() {
    const std::uint64_t digest = word();
    return {digest, word()};
  }
  bool isWhole() const { return !isShort && rest.empty(); }

private:
  std::span<const std::byte> take(std::uint64_t size) {
    if (size > rest.size()) {
      isShort = true;
      return {};
    }
    const auto taken = rest.first(size);
    rest = rest.subspan(size);
    return taken;
  }

  std::span<const std::byte> rest;
  bool isShort = false;
};

void putNames(Out& out, const FolderFile& file) {
  out.run(charactersOf(file.function));
  for (const auto* list : {&file.arguments, &file.results})
    out.texts(*list);
  out.word(file.donations.size());
  for (const Donation& each : file.donations) {
    out.word(each.argument);
    out.word(each.result);
  }
  out.run(charactersOf(file.products));
}

bool isNamed(std::string_view name, std::string_view begin, std::string_view end) {
  if (!name.starts_with(begin) || !name.ends_with(end))
    return false;
  name.remove_prefix(begin.size());
  name.remove_suffix(end.size());
  return name.size() == 2 * kWord &&
         name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool begins(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

} // namespace

std::uint64_t digest(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const std::byte byte : bytes)
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001B3;
  return hash;
}

std::uint64_t FolderFile::id() const {
  Out out;
  putNames(out, *this);
  out.texts(functions);
  out.run(program);
  return digest(out.bytes);
}

std::string FolderFile::kernelsFile() const {
  return fmt::format("{}{:016x}{}", kKernelsBegin, kernels.digest, kKernelsEnd);
}

std::string FolderFile::weightsFile() const {
  return fmt::format("{}{:016x}{}", kWeightsBegin, weights.digest, kWeightsEnd);
}

bool isPartName(std::string_view name) {
  return isNamed(name, kKernelsBegin, kKernelsEnd) || isNamed(name, kWeightsBegin, kWeightsEnd);
}

bool isProgramFile(std::span<const std::byte> beginning) { return begins(beginning, kMagic); }

std::vector<std::byte> bytesOf(const FolderFile& file) {
  Out body;
  putNames(body, file);
  for (const auto* list : {&file.features, &file.functions})
    body.texts(*list);
  for (const FolderPart* part : {&file.kernels, &file.weights})
    body.part(*part);
  body.run(file.program);
  Out whole;
  whole.bytes.assign(charactersOf(kMagic).begin(), charactersOf(kMagic).end());
  whole.word(kVersion);
  whole.word(digest(body.bytes));
  whole.bytes.insert(whole.bytes.end(), body.bytes.begin(), body.bytes.end());
  return std::move(whole.bytes);
}

tl::expected<FolderFile, std::string> readFolderFile(std::span<const std::byte> bytes) {
  const auto wrong = [](std::string why) { return tl::make_unexpected(std::move(why)); };
  constexpr std::size_t kHead = 3 * kWord;
  if (bytes.size() < kHead || !isProgramFile(bytes))
    return wrong("it is not what `octavo compile` writes");
  In head(bytes.subspan(kMagic.size(), 2 * kWord));
  if (const std::uint64_t version = head.word(); version != kVersion)
    return wrong(fmt::format("it is of version {:016x} of the format, and this octavo reads "
                             "version {:016x}: compile the program again",
                             version, kVersion));
  const auto body = bytes.subspan(kHead);
  if (head.word() != digest(body))
    return wrong(std::string(kDamaged));
  In in(body);
  FolderFile file;
  file.function = in.text();
  file.arguments = in.texts();
  file.results = in.texts();
  file.donations = in.donations();
  file.products = in.text();
  file.features = in.texts();
  file.functions = in.texts();
  file.kernels = in.part();
  file.weights = in.part();
  const auto program = in.run();
  file.program.assign(program.begin(), program.end());
  if (!in.isWhole())
    return wrong("its parts do not fill it");
  return file;
}

std::vector<std::byte> weightsEnd(const FolderPart& weights) {
  Out out;
  out.bytes.assign(charactersOf(kWeightsMagic).begin(), charactersOf(kWeightsMagic).end());
  out.part(weights);
  return std::move(out.bytes);
}

tl::expected<void, std::string> checkWeightsEnd(std::span<const std::byte> file,
                                                const FolderPart& weights) {
  if (file.size() < kWeightsEndBytes || !isWeightsEnd(file.last(kWeightsEndBytes)))
    return tl::make_unexpected(std::string(
        "it is cut short, or not what `octavo compile` writes; compile the program again"));
  const auto end = file.last(kWeightsEndBytes);
  if (std::memcmp(end.data() + kWord, &weights.digest, kWord) != 0)
    return tl::make_unexpected(std::string("it belongs to another program than program.octavo"));
  if (file.size() != weights.size || !std::ranges::equal(end, weightsEnd(weights)))
    return tl::make_unexpected(
        std::string("it has not the size that it was written with; compile the program again"));
  return {};
}

bool isWeightsEnd(std::span<const std::byte> end) {
  return end.size() == kWeightsEndBytes && begins(end, kWeightsMagic);
}

std::string productsOfMachine() {
  const kernels::Isa isa = kernels::defaultIsa();
  return fmt::format("{}{}", kernels::isaName(isa), kernels::usesBf16(isa) ? " with bf16" : "");
}

} // namespace octavo::program
