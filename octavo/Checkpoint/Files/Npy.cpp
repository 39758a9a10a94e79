#include "octavo/Checkpoint/Files/Npy.h"

#include "octavo/Checkpoint/Files/OutputFile.h"
#include "octavo/Checkpoint/Files/SafetensorsDtype.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

namespace {

using format::element;
using format::ElementFormat;
using numerics::ComplexType;
using numerics::ElementType;
using numerics::IntegerType;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kBeforeHeader = 12; ///< bytes at most: magic, version, length
/// NumPy's own limit is 10,000 bytes, unless its caller trusts the file (allow_pickle).
constexpr std::uint64_t kLongestHeader = std::uint64_t{1} << 16;

struct Descr {
  std::string text;
  ElementType type;
  bool isNumpys = true; ///< false: a name of ml_dtypes
};

std::vector<Descr> makeDescrs() {
  std::vector<Descr> rows = {
      {"|b1", IntegerType{1, false}},        {"|i1", IntegerType{8, false}},
      {"|u1", IntegerType{8, true}},         {"<i2", IntegerType{16, false}},
      {"<u2", IntegerType{16, true}},        {"<i4", IntegerType{32, false}},
      {"<u4", IntegerType{32, true}},        {"<i8", IntegerType{64, false}},
      {"<u8", IntegerType{64, true}},        {"<f2", ElementType(element("f16"))},
      {"<f4", ElementType(element("f32"))},  {"<f8", ElementType(element("f64"))},
      {"<c8", ComplexType{&element("f32")}}, {"<c16", ComplexType{&element("f64")}},
  };
  for (const int width : {2, 4})
    for (const bool isUnsigned : {false, true})
      rows.push_back({fmt::format("{}int{}", isUnsigned ? "u" : "", width),
                      IntegerType{width, isUnsigned}, false});
  const auto isRow = [&](const ElementFormat& format) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const Descr& row) { return row.type == ElementType(format); });
  };
  for (const ElementFormat& format : format::kElementFormats)
    if (!format.numpy.empty() && !format.isInteger() && !isRow(format))
      rows.push_back({std::string(format.numpy), ElementType(format), false});
  return rows;
}

const std::vector<Descr>& descrs() {
  static const std::vector<Descr> table = makeDescrs();
  return table;
}

const Descr* findDescr(std::string_view text) {
  for (const Descr& row : descrs())
    if (row.text == text)
      return &row;
  return nullptr;
}

const Descr* findDescr(const ElementType& type) {
  for (const Descr& row : descrs())
    if (row.type == type)
      return &row;
  return nullptr;
}

/// The ml_dtypes row of the type in a file's name: x.f8E4M3.npy, x.int4.npy. Null if the name has
/// none.
const Descr* typeInName(const std::filesystem::path& file) {
  const std::string ending = file.stem().extension().string();
  if (ending.size() < 2)
    return nullptr;
  const std::string_view spelling = std::string_view(ending).substr(1);
  const ElementFormat* format = format::findElementFormat(spelling);
  for (const Descr& row : descrs())
    if (!row.isNumpys && (row.text == spelling || row.type.name() == spelling ||
                          (format != nullptr && row.type == ElementType(*format))))
      return &row;
  return nullptr;
}

/// Bytes of an element if `descr` is the raw form in which numpy.save writes ml_dtypes; else 0.
int rawBytes(std::string_view descr) {
  if (descr == "|V1" || descr == "<V1" || descr == "<f1")
    return 1;
  return descr == "|V2" || descr == "<V2" ? 2 : 0;
}

/// Whether elements described by `descr` may be codes of `type`, the type in the file's name.
bool mayBeCodes(std::string_view descr, const ElementType& type) {
  const bool isByte = descr == "|u1" || (descr == "|i1" && type.isInteger());
  return type.bytes() == (isByte ? 1 : descr == "<u2" ? 2 : rawBytes(descr));
}

struct Header {
  std::string descr;
  bool fortranOrder = false;
  std::vector<std::int64_t> shape;
};

/// Reads the header: the Python literal of a dict with the keys descr, fortran_order and shape.
class NpyHeaderReader {
public:
  NpyHeaderReader(std::string_view text, std::size_t begin, const std::string& file)
      : text(text), begin(begin), file(file) {}

  tl::expected<Header, Error> read() {
    Header header;
    bool hasDescr = false, hasOrder = false, hasShape = false;
    if (!take('{'))
      return refuse("a dict");
    while (!take('}')) {
      const std::optional<std::string> key = takeString();
      if (!key)
        return refuse("a key in quotes");
      if (!take(':'))
        return refuse("':' after a key");
      bool* seen = *key == "descr"           ? &hasDescr
                   : *key == "fortran_order" ? &hasOrder
                   : *key == "shape"         ? &hasShape
                                             : nullptr;
      if (!seen || *seen)
        return refuse("the keys descr, fortran_order and shape, each once");
      *seen = true;
      if (seen == &hasDescr) {
        std::optional<std::string> descr = takeString();
        if (!descr)
          return refuse("a type in quotes (a structured array has no single type)");
        header.descr = std::move(*descr);
      } else if (seen == &hasOrder) {
        if (takeWord("True"))
          header.fortranOrder = true;
        else if (!takeWord("False"))
          return refuse("True or False");
      } else if (!takeShape(header.shape)) {
        return refuse("a tuple of extents from 0 to 2^63 - 1");
      }
      if (!take(',') && !at('}'))
        return refuse("',' or '}' after a value");
    }
    skipSpace();
    if (position != text.size())
      return refuse("nothing after the dict");
    if (!hasDescr || !hasOrder || !hasShape)
      return refuse("the keys descr, fortran_order and shape, each once");
    return header;
  }

private:
  tl::unexpected<Error> refuse(std::string expected) const {
    const std::string_view rest = text.substr(std::min(position, text.size()), 20);
    return tl::unexpected(Error{.file = file,
                                .problem = "the header cannot be read",
                                .offset = begin + position,
                                .expected = std::move(expected),
                                .found = rest.empty() ? "its end" : inQuotes(rest),
                                .fix = "write the array again with numpy.save"});
  }

  void skipSpace() {
    while (position < text.size() && (text[position] == ' ' || text[position] == '\n' ||
                                      text[position] == '\t' || text[position] == '\r'))
      ++position;
  }
  bool at(char c) {
    skipSpace();
    return position < text.size() && text[position] == c;
  }
  bool take(char c) {
    if (!at(c))
      return false;
    ++position;
    return true;
  }
  bool takeWord(std::string_view word) {
    skipSpace();
    if (text.substr(position, word.size()) != word)
      return false;
    position += word.size();
    return true;
  }
  std::optional<std::string> takeString() {
    if (!at('\'') && !at('"'))
      return std::nullopt;
    const std::size_t end = text.find(text[position], position + 1);
    if (end == std::string_view::npos)
      return std::nullopt;
    std::string value(text.substr(position + 1, end - position - 1));
    position = end + 1;
    return value;
  }
  bool takeShape(std::vector<std::int64_t>& shape) {
    if (!take('('))
      return false;
    bool hasComma = true; // (3) is a number, (3,) a tuple
    while (!take(')')) {
      if (!hasComma)
        return false;
      skipSpace();
      std::int64_t extent = 0;
      const char* first = text.data() + position;
      const char* last = text.data() + text.size();
      const auto [end, code] = std::from_chars(first, last, extent);
      if (code != std::errc() || extent < 0 || *first == '-')
        return false;
      position += static_cast<std::size_t>(end - first);
      shape.push_back(extent);
      hasComma = take(',');
    }
    return shape.size() != 1 || hasComma;
  }

  std::string_view text;
  std::size_t begin;
  const std::string& file;
  std::size_t position = 0;
};

/// Bytes of an array; nullopt if the product over the nonzero extents exceeds 2^63 - 1.
std::optional<std::uint64_t> bytesOf(const Header& header, const ElementType& type) {
  std::int64_t bytes = type.bytes();
  bool isEmpty = false;
  for (std::int64_t extent : header.shape) {
    isEmpty |= extent == 0;
    if (extent != 0 && __builtin_mul_overflow(bytes, extent, &bytes))
      return std::nullopt;
  }
  return isEmpty ? 0 : static_cast<std::uint64_t>(bytes);
}

std::vector<std::byte> rowMajor(std::span<const std::byte> columns,
                                std::span<const std::int64_t> shape, std::size_t width) {
  std::vector<std::byte> rows(columns.size());
  std::vector<std::int64_t> index(shape.size(), 0);
  std::vector<std::size_t> stride(shape.size());
  std::size_t step = width;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    stride[axis] = step;
    step *= static_cast<std::size_t>(shape[axis]);
  }
  std::size_t source = 0;
  for (std::size_t target = 0; target < rows.size(); target += width) {
    std::memcpy(rows.data() + target, columns.data() + source, width);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      source += stride[axis];
      if (++index[axis] < shape[axis])
        break;
      source -= stride[axis] * static_cast<std::size_t>(shape[axis]);
      index[axis] = 0;
    }
  }
  return rows;
}

/// Clears the bits above the width of codes narrower than a byte. These bits may only be 0 or, for
/// a signed integer, repeat the sign. Returns the index of the first element with other bits;
/// nullopt if there is none.
std::optional<std::size_t> narrowCodes(std::span<std::byte> codes, const ElementType& type) {
  const int width = type.width();
  if (width >= 8 || type.isBoolean())
    return std::nullopt;
  const bool isSigned = type.isInteger() && !type.integer().isUnsigned;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const std::byte high = codes[i] >> width;
    const bool isNegative = (codes[i] >> (width - 1) & std::byte{1}) != std::byte{0};
    if (high != std::byte{0} && !(isSigned && isNegative && high == std::byte{0xff} >> width))
      return i;
    codes[i] &= std::byte{0xff} >> (8 - width);
  }
  return std::nullopt;
}

tl::unexpected<Error> refuseDescr(const std::string& file, const std::string& descr) {
  std::vector<std::string_view> known;
  for (const Descr& row : descrs())
    known.emplace_back(row.text);
  Error error{.file = file,
              .problem = "the type of its elements cannot be used",
              .expected = fmt::format("one of {}", fmt::join(known, " ")),
              .found = inQuotes(descr),
              .fix = "convert the array first (numpy.asarray(x, dtype=...))"};
  if (rawBytes(descr) != 0)
    error.fix = fmt::format("numpy.save does not keep the types of ml_dtypes: say it in the file's "
                            "name, as in {}.{}.npy",
                            std::filesystem::path(file).stem().string(),
                            rawBytes(descr) == 1 ? "float8_e4m3fn" : "bfloat16");
  else if (descr.size() > 1 && descr[1] == 'O')
    error.fix = "it holds pickled Python objects, which are never read: save numbers";
  else if (descr.starts_with('>'))
    error.fix = "it is big-endian: x.astype(x.dtype.newbyteorder('<')) before saving";
  return tl::unexpected(std::move(error));
}

} // namespace

tl::expected<numerics::Tensor, Error> readNpy(const InputFile& file) {
  const auto refuse = [&](std::string problem, std::string expected, std::string found,
                          std::uint64_t offset, std::string fix) {
    return tl::unexpected(Error{.file = file.name(),
                                .problem = std::move(problem),
                                .offset = offset,
                                .expected = std::move(expected),
                                .found = std::move(found),
                                .fix = std::move(fix)});
  };
  std::string text(std::min<std::uint64_t>(file.size(), kBeforeHeader + kLongestHeader), '\0');
  if (auto done = file.read(0, std::as_writable_bytes(std::span(text))); !done)
    return tl::unexpected(std::move(done.error()));
  if (!text.starts_with(kMagic))
    return refuse("not a .npy file", "the 6 bytes \\x93NUMPY at its start",
                  text.empty() ? "an empty file" : inQuotes(text.substr(0, 6)), 0,
                  "write it with numpy.save; several arrays go into a .safetensors file");
  const char* kCutShort = "the file is cut short: write or copy it again";
  if (text.size() < 10)
    return refuse("the file ends inside its header", "10 bytes or more",
                  fmt::format("{}", text.size()), text.size(), kCutShort);
  const unsigned major = static_cast<unsigned char>(text[6]);
  if (major < 1 || major > 3)
    return refuse("unknown version of the format", "1, 2 or 3", fmt::format("{}", major), 6,
                  "write it again with numpy.save");
  const std::size_t lengthBytes = major == 1 ? 2 : 4;
  if (text.size() < 8 + lengthBytes)
    return refuse("the file ends inside its header", fmt::format("{} bytes", 8 + lengthBytes),
                  fmt::format("{}", text.size()), text.size(), kCutShort);
  std::uint64_t length = 0;
  for (std::size_t i = lengthBytes; i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(text[8 + i]);
  const std::uint64_t begin = 8 + lengthBytes;
  if (length > file.size() - begin)
    return refuse("the header length is beyond the end of the file",
                  fmt::format("at most {}", file.size() - begin), fmt::format("{}", length), 8,
                  kCutShort);
  if (length > kLongestHeader)
    return refuse("the header is too long for an array of numbers",
                  fmt::format("at most {} bytes", kLongestHeader), fmt::format("{}", length), 8,
                  "write it again with numpy.save");

  auto header =
      NpyHeaderReader(std::string_view(text).substr(begin, length), begin, file.name()).read();
  if (!header)
    return tl::unexpected(std::move(header.error()));
  const Descr* row = findDescr(header->descr);
  if (const Descr* said = typeInName(file.name()); said && mayBeCodes(header->descr, said->type))
    row = said;
  if (row == nullptr)
    return refuseDescr(file.name(), header->descr);
  const std::optional<std::uint64_t> size = bytesOf(*header, row->type);
  const std::string shape = fmt::format("{} {}", header->descr, header->shape);
  if (!size)
    return refuse("its size exceeds 2^63 - 1 bytes", "a shape that fits in memory", shape, begin,
                  "write the array again with numpy.save");
  const std::uint64_t dataBegin = begin + length, dataSize = file.size() - dataBegin;
  if (dataSize != *size)
    return refuse("its data has the wrong length", fmt::format("{} bytes for {}", *size, shape),
                  fmt::format("{} bytes", dataSize), dataBegin,
                  dataSize < *size ? kCutShort : "write the array again with numpy.save");

  std::vector<std::byte> data(dataSize);
  if (auto done = file.read(dataBegin, data); !done)
    return tl::unexpected(std::move(done.error()));
  if (row->type.isBoolean())
    for (std::size_t i = 0; i < data.size(); ++i)
      if (data[i] > std::byte{1})
        return refuse("a boolean is neither 0 nor 1", "0 or 1",
                      fmt::format("{}", std::to_integer<unsigned>(data[i])), dataBegin + i,
                      "store it as uint8 if it is not a truth value");
  if (const std::optional<std::size_t> wrong = narrowCodes(data, row->type))
    return refuse(fmt::format("element {} is not a code of {}", *wrong, row->type.name()),
                  fmt::format("a number of {} bits", row->type.width()),
                  fmt::format("{}", std::to_integer<unsigned>(data[*wrong])), dataBegin + *wrong,
                  "store one code in each byte, its unused high bits 0");
  numerics::Tensor tensor{row->type, std::move(header->shape), {}};
  if (header->fortranOrder && tensor.shape.size() > 1)
    tensor.bytes = rowMajor(data, tensor.shape, row->type.bytes());
  else
    tensor.bytes = std::move(data);
  return tensor;
}

tl::expected<numerics::Tensor, Error> readNpy(const std::filesystem::path& path) {
  return InputFile::open(path).and_then([](const InputFile& file) { return readNpy(file); });
}

bool npyHolds(const ElementType& type) { return findDescr(type) != nullptr; }

tl::expected<void, Error> writeNpy(const std::filesystem::path& path,
                                   const numerics::Tensor& tensor) {
  const Descr* row = findDescr(tensor.type);
  if (row == nullptr)
    return tl::unexpected(
        Error{.file = path.string(),
              .problem = "neither NumPy nor ml_dtypes has a type for its elements",
              .expected = "one of theirs",
              .found = tensor.type.name(),
              .fix = findSafetensorsDtype(tensor.type) ? "write a .safetensors file, which has it"
                                                       : "convert it to a wider type"});
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", row->text,
                  fmt::join(tensor.shape, ", "), tensor.shape.size() == 1 ? "," : "");
  // NumPy pads the header so that the data starts at a multiple of 64, and ends it with a newline.
  // It leaves room for the first extent to grow in place to 21 digits.
  if (!tensor.shape.empty())
    header.append(21 - std::to_string(tensor.shape.front()).size(), ' ');
  header.append(63 - (kMagic.size() + 4 + header.size()) % 64, ' ');
  header += '\n';

  auto file = OutputFile::create(path);
  if (!file)
    return tl::unexpected(std::move(file.error()));
  std::string start(kMagic);
  start += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
            static_cast<char>(header.size() >> 8 & 0xff)};
  if (auto written = file->write(start + header); !written)
    return written;
  if (auto written = file->write(tensor.bytes); !written)
    return written;
  return file->commit();
}

} // namespace octavo::checkpoint
