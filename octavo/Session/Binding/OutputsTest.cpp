#include "octavo/Session/Binding/Outputs.h"

#include "octavo/Checkpoint/Files/Npy.h"
#include "octavo/Checkpoint/Files/Safetensors.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace octavo::session {
namespace {

using format::element;
using numerics::Tensor;

class Outputs : public testing::Test {
protected:
  Outputs() {
    std::string name = (std::filesystem::temp_directory_path() / "octavo-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~Outputs() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string& name, std::vector<NamedOutput> outputs) const {
    llvm::Error error = writeOutputs(folder / name, outputs);
    return error ? llvm::toString(std::move(error)) : "written";
  }

  std::filesystem::path folder;
  Tensor a = Tensor::zeros(element("f32"), {2});
  Tensor b = Tensor::zeros(element("e4m3fn"), {3});
};

TEST_F(Outputs, safetensors) {
  EXPECT_EQ(write("x.safetensors", {{"a", &a}, {"b", &b}}), "written");
  const auto file = checkpoint::SafetensorsFile::open(folder / "x.safetensors");
  ASSERT_TRUE(file);
  EXPECT_EQ(*file->read(*file->find("a")), a);
  EXPECT_EQ(*file->read(*file->find("b")), b);
}

TEST_F(Outputs, oneArray) {
  EXPECT_EQ(write("x.npy", {{"a", &a}}), "written");
  EXPECT_EQ(*checkpoint::readNpy(folder / "x.npy"), a);
  EXPECT_NE(write("y.npy", {{"a", &a}, {"b", &a}}).find("there are 2 outputs"), std::string::npos);
  EXPECT_EQ(write("y.npy", {{"b", &b}}), "written");
  EXPECT_EQ(*checkpoint::readNpy(folder / "y.npy"), b);
}

TEST_F(Outputs, aFolder) {
  EXPECT_EQ(write("some/where", {{"params['a']/b", &a}, {"", &a}}), "written");
  EXPECT_TRUE(std::filesystem::exists(folder / "some/where/params__a___b.npy"));
  EXPECT_TRUE(std::filesystem::exists(folder / "some/where/_.npy"));
  EXPECT_NE(write("out", {{"a/", &a}, {"a_", &a}}).find("would both be a_.npy"), std::string::npos);
  EXPECT_EQ(write("x.npy", {{"a", &a}}), "written");
  EXPECT_NE(write("x.npy/y", {{"a", &a}}).find("cannot be made a folder"), std::string::npos);
}

} // namespace
} // namespace octavo::session
