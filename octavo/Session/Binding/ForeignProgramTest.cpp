#include "octavo/Session/Binding/ForeignProgram.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <unistd.h>

namespace octavo::session {
namespace {

using namespace std::string_literals;

/// Requires that the bytes are recognized with a message that contains `part`.
#define EXPECT_SAYS(part, found)                                                                   \
  do {                                                                                             \
    const std::optional<std::string> said = (found);                                               \
    ASSERT_TRUE(said);                                                                             \
    EXPECT_NE(said->find(part), std::string::npos) << *said;                                       \
  } while (false)

// ir_version 10, producer_name "pytorch", graph { name "g" }, opset_import { version 21 }: fields
// 1, 2, 7 and 8 of ModelProto in onnx.proto, by protobuf's encoding.
const std::string kOnnx = "\x08\x0a\x12\x07pytorch\x3a\x03\x12\x01g\x42\x02\x10\x15"s;

TEST(ForeignProgramTest, ModelsOfOthersAreNamed) {
  EXPECT_SAYS("ONNX", foreignProgram(kOnnx, "model"));
  EXPECT_SAYS("ONNX", foreignProgram(kOnnx.substr(0, 12), "cut-short.onnx"));
  EXPECT_SAYS("torch.export", foreignProgram("PK\x03\x04..archive/archive_format..pt2", "m.pt2"));
  EXPECT_SAYS("TorchScript",
              foreignProgram("PK\x03\x04..m/code/__torch__.py..m/constants.pkl", ""));
  EXPECT_SAYS("torch.save", foreignProgram("PK\x03\x04..m/data.pkl..", "m.pth"));
  EXPECT_SAYS("pickle", foreignProgram("\x80\x02\x8a\x0a"s, "old.pth"));
  EXPECT_SAYS("TensorFlow Lite", foreignProgram("\x1c\0\0\0TFL3"s, ""));
  EXPECT_SAYS("GGUF", foreignProgram("GGUF\3\0\0\0"s, ""));
  EXPECT_SAYS("--input", foreignProgram("\x93NUMPY\1\0"s, ""));
  EXPECT_SAYS("HDF5", foreignProgram("\x89HDF\r\n\x1a\n"s, ""));
  EXPECT_SAYS("as_text()", foreignProgram("HloModule jit_f, ...", ""));
  EXPECT_SAYS("--weights", foreignProgram("\x02\0\0\0\0\0\0\0{}"s, ""));
}

TEST(ForeignProgramTest, ProgramsAndNoiseAreNot) {
  for (const std::string& bytes :
       {"module {}"s, "func.func @main() { return }"s, "// text"s, ""s, "\x08"s, "\x08\x0a"s,
        "ML\xefR"s, "\x02\0\0\0\0\0\0\0[]"s, "\x08\x0a\x6b\x01x"s})
    EXPECT_FALSE(foreignProgram(bytes, "program.mlir")) << bytes;
}

TEST(ForeignProgramTest, FoldersAreNamed) {
  namespace fs = std::filesystem;
  std::string name = (fs::temp_directory_path() / "octavo-foreign-XXXXXX").string();
  const fs::path folder = ::mkdtemp(name.data());
  EXPECT_FALSE(foreignFolder(folder));
  EXPECT_FALSE(foreignFolder(folder / "none"));
  std::ofstream(folder / "model-00001.safetensors") << "weights";
  EXPECT_SAYS("octavo checkpoint quantize", foreignFolder(folder));
  std::ofstream(folder / "program.octavo") << "compiled";
  EXPECT_FALSE(foreignFolder(folder));
  std::ofstream(folder / "saved_model.pb") << "TensorFlow";
  EXPECT_SAYS("SavedModel", foreignFolder(folder));
  fs::remove_all(folder);
}

} // namespace
} // namespace octavo::session
