#include "octavo/Session/Binding/ProbeFolder.h"

#include "octavo/Session/Binding/Failure.h"

#include "octavo/Checkpoint/Files/DurableFolder.h"
#include "octavo/Checkpoint/Files/Npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

#include <fstream>

namespace octavo::session {

namespace {

using program::Tensor;

constexpr const char* kIndex = "index.csv";

/// Whether NumPy has the type.
bool isOfNumPy(const numerics::ElementType& type) {
  if (type.isFloat())
    return type.format() == format::element("f16") || type.format() == format::element("f32") ||
           type.format() == format::element("f64");
  return type.isComplex() || (type.isInteger() && (type.isBoolean() || type.width() >= 8));
}

/// The codes as unsigned integers, for a type that NumPy lacks.
Tensor forNumPy(const Tensor& tensor) {
  if (isOfNumPy(tensor.type))
    return tensor;
  return {numerics::IntegerType{8 * tensor.type.bytes(), true}, tensor.shape, tensor.bytes};
}

} // namespace

bool isProbeFile(std::string_view name) {
  llvm::StringRef number = name;
  return name == kIndex || (number.consume_front("probe") && number.consume_back(".npy") &&
                            !number.empty() && llvm::all_of(number, llvm::isDigit));
}

llvm::Expected<std::unique_ptr<ProbeFolder>>
ProbeFolder::make(const std::filesystem::path& folder) {
  if (const auto made = checkpoint::createFolders(folder); !made)
    return failure(fmt::format("{}: cannot be made a folder for probes: {}", folder.string(),
                               made.error().problem));
  const std::filesystem::path index = folder / kIndex;
  if (!std::ofstream(index, std::ios::trunc))
    return failure(fmt::format("{}: cannot be written", index.string()));
  return std::unique_ptr<ProbeFolder>(new ProbeFolder(folder));
}

program::Outcome ProbeFolder::write(std::string_view id, std::string_view type,
                                    const Tensor& tensor) {
  const std::scoped_lock lock(mutex);
  const std::filesystem::path file = folder / fmt::format("probe{}.npy", records.size() + 1);
  if (const auto written = checkpoint::writeNpy(file, forNumPy(tensor)); !written)
    return tl::unexpected(written.error().message());
  const std::filesystem::path index = folder / kIndex;
  std::ofstream lines(index, std::ios::app);
  lines << id << "," << type << "," << file.string() << std::endl;
  if (!lines)
    return tl::unexpected(fmt::format("{}: cannot be written", index.string()));
  records.push_back({std::string(id), std::string(type), tensor.type, file});
  return {};
}

tl::expected<Tensor, std::string> ProbeFolder::read(std::string_view id, std::uint32_t iteration,
                                                    std::string_view type) {
  const std::scoped_lock lock(mutex);
  std::uint32_t times = 0;
  for (const Record& record : records) {
    if (record.id != id || times++ != iteration)
      continue;
    if (record.type != type)
      return tl::unexpected(
          fmt::format("the probe '{}' left {}; expected {}", record.id, record.type, type));
    auto tensor = checkpoint::readNpy(record.file);
    if (!tensor)
      return tl::unexpected(tensor.error().message());
    tensor->type = record.elements;
    return std::move(*tensor);
  }
  return tl::unexpected(fmt::format(
      "the probe '{}' has come {} times so far; iteration {} is asked for", id, times, iteration));
}

} // namespace octavo::session
