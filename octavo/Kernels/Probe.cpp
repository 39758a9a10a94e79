// Test program: conversions by the kernels as a filter, for scripts/every-f32.
//
//   octavo-kernels-probe formats            a line a narrow format: name, NumPy's name
//   octavo-kernels-probe sets               a line an instruction set that runs here
//   octavo-kernels-probe codes FORMAT SET   f32 on stdin -> codes, a byte each, on stdout

#include "octavo/Kernels/Convert.h"

#include <cstdio>
#include <string>
#include <vector>

namespace octavo::kernels {

static int writeCodes(const ElementFormat& format, Isa isa) {
  std::vector<float> values(std::size_t{1} << 16);
  std::vector<std::uint8_t> codes(values.size());
  while (const std::size_t n = std::fread(values.data(), sizeof(float), values.size(), stdin)) {
    convert(format, {}, WideType::F32, values.data(), codes.data(), n, {},
            {.isa = isa, .threads = 1});
    if (std::fwrite(codes.data(), 1, n, stdout) != n)
      return 1;
  }
  return 0;
}

static int probe(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "formats") {
    for (const ElementFormat& row : format::kElementFormats)
      if (row.isNarrow())
        std::printf("%s\t%s\n", std::string(row.name).c_str(), std::string(row.numpy).c_str());
    return 0;
  }
  if (verb == "sets") {
    for (Isa isa : builtIsas())
      if (const auto why = whyNot(isa))
        std::fprintf(stderr, "not run: %s\n", why->c_str());
      else
        std::printf("%s\n", std::string(isaName(isa)).c_str());
    return 0;
  }
  const ElementFormat* format = argc == 4 ? format::findElementFormat(argv[2]) : nullptr;
  const auto isa = chooseIsa(argc == 4 ? argv[3] : "");
  if (verb != "codes" || !format || !isa) {
    std::fprintf(stderr, "octavo-kernels-probe: formats | sets | codes FORMAT SET\n");
    return 2;
  }
  return writeCodes(*format, *isa);
}

} // namespace octavo::kernels

int main(int argc, char** argv) { return octavo::kernels::probe(argc, argv); }
