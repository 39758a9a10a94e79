#include "tools/octavo/Paths.h"

#include "tools/octavo/Commands.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <stdexcept>
#include <unistd.h>

namespace octavo::tools {
namespace {

namespace fs = std::filesystem;

/// A command that reads --in, --list and --folder, and writes --out, --other and --probes.
class PathsTest : public testing::Test {
protected:
  PathsTest() {
    std::string name = (fs::temp_directory_path() / "octavo-paths-XXXXXX").string();
    folder = ::mkdtemp(name.data());
    for (const char* file : {"a.npy", "b.npy"})
      std::ofstream(folder / file) << file;
    fs::create_directories(folder / "set");
    std::ofstream(folder / "set" / "x.npy") << "x";
  }
  ~PathsTest() override { fs::remove_all(folder); }

  /// The error of checkPaths for these arguments; empty if there is none.
  std::string said(const std::vector<std::string>& arguments) const {
    CLI::App app("", "octavo");
    CLI::App* command = app.add_subcommand("make", "");
    std::vector<std::string> values(6);
    std::size_t next = 0;
    const auto option = [&](const char* name) {
      return command->add_option(name, values[next++], "")->type_name("FILE");
    };
    readsPath(option("--in"), ReadForm::Named);
    readsPath(option("--list"), ReadForm::NamedList);
    readsPath(option("--folder"));
    writesPath(option("--out"),
               {.besides = {".state"}, .isEarlierOutput = [](const fs::path& file) {
                  return file.extension() == ".html";
                }});
    writesPath(option("--other"));
    writesPath(option("--probes"),
               {.writesInFolder = [](std::string_view file) { return file.starts_with("probe"); }});
    requireDeclared(app);
    std::vector<const char*> words = {"octavo", "make"};
    for (const std::string& argument : arguments)
      words.push_back(argument.c_str());
    app.parse(static_cast<int>(words.size()), words.data());
    try {
      checkPaths(app);
      return "";
    } catch (const CommandError& error) {
      return error.what();
    }
  }
  std::string at(const std::string& name) const { return (folder / name).string(); }

  fs::path folder;
};

#define EXPECT_SAYS(part, ...)                                                                     \
  do {                                                                                             \
    const std::string text = said(__VA_ARGS__);                                                    \
    EXPECT_NE(text.find(part), std::string::npos) << text;                                         \
  } while (false)

TEST_F(PathsTest, AnOutputIsNotAnInputHoweverItIsWritten) {
  fs::create_symlink(folder / "a.npy", folder / "link.npy");
  fs::create_hard_link(folder / "a.npy", folder / "hard.npy");
  fs::create_directory_symlink(folder, folder / "itself");
  for (const char* spelling :
       {"a.npy", "./a.npy", "set/../a.npy", "link.npy", "hard.npy", "itself/a.npy"}) {
    EXPECT_SAYS("would overwrite what the command reads (--in",
                {"--in", at("a.npy"), "--out", at(spelling)});
    EXPECT_SAYS("would overwrite what the command reads (--in",
                {"--in", "x=" + at(spelling), "--out", at("a.npy")});
    EXPECT_SAYS("would overwrite what the command reads (--list",
                {"--list", "y=" + at("b.npy") + ",x=" + at("a.npy"), "--other", at(spelling)});
  }
  EXPECT_EQ(said({"--in", at("a.npy"), "--out", at("b.npy")}), "");
  EXPECT_EQ(said({"--in", at("a.npy"), "--out", at("new.npy")}), "");
  EXPECT_EQ(said({"--in", at("not-there.npy"), "--out", at("not-there.npy")}), "")
      << "what is not there is not overwritten";
}

TEST_F(PathsTest, AFileBesideAnOutputIsAnOutput) {
  std::ofstream(folder / "r.json.state") << "kept";
  EXPECT_SAYS("r.json.state: would overwrite", {"--in", at("r.json.state"), "--out", at("r.json")});
}

TEST_F(PathsTest, TwoOutputsHaveTwoPlaces) {
  for (const char* spelling : {"new", "./new", "set/../new", "set/../set/../new"})
    EXPECT_SAYS("would overwrite one another", {"--out", at("new"), "--other", at(spelling)});
  EXPECT_SAYS("would overwrite one another", {"--out", at("new"), "--other", at("new.state")});
  EXPECT_SAYS("would overwrite one another", {"--out", at("set/probe1"), "--probes", at("set")});
  EXPECT_EQ(said({"--out", at("set/other"), "--probes", at("set")}), "");
  EXPECT_EQ(said({"--out", at("new"), "--other", at("newer")}), "");
  EXPECT_EQ(said({"--out", "/dev/null", "--other", "/dev/null"}), "");
}

TEST_F(PathsTest, FilesInFoldersThatAreReadOrWrittenCount) {
  fs::create_symlink(folder / "b.npy", folder / "set" / "y.npy");
  EXPECT_SAYS("is \"x.npy\" of the", {"--folder", at("set"), "--out", at("set/x.npy")});
  EXPECT_SAYS("is \"y.npy\" of the", {"--folder", at("set"), "--out", at("b.npy")});
  EXPECT_EQ(said({"--folder", at("set"), "--out", at("set/new.npy")}), "");
  std::ofstream(folder / "set" / "page.html") << "of an earlier run";
  EXPECT_EQ(said({"--folder", at("set"), "--out", at("set/page.html")}), "");
  EXPECT_SAYS("is \"page.html\"", {"--folder", at("set"), "--other", at("set/page.html")});
  std::ofstream(folder / "set" / "probe7.npy") << "an input";
  EXPECT_SAYS("probe7.npy: would overwrite", {"--in", at("set/probe7.npy"), "--probes", at("set")});
  EXPECT_EQ(said({"--in", at("set/x.npy"), "--probes", at("set")}), "");
}

TEST_F(PathsTest, AFolderMayBeReadInPart) {
  CLI::App app("", "octavo");
  CLI::App* command = app.add_subcommand("make", "");
  std::string program, out;
  readsPath(
      command->add_option("PROGRAM", program, ""), ReadForm::Path,
      {.noun = "program", .readsInFolder = [](std::string_view name) { return name == "x.npy"; }});
  writesPath(command->add_option("--out", out, ""));
  std::ofstream(folder / "set" / "other") << "of an earlier run";
  const auto check = [&](const std::string& output) {
    const std::string read = at("set");
    const std::array words = {"octavo", "make", read.c_str(), "--out", output.c_str()};
    app.parse(words.size(), words.data());
    checkPaths(app);
  };
  EXPECT_THROW(check(at("set/x.npy")), CommandError);
  EXPECT_NO_THROW(check(at("set/other")));
}

TEST_F(PathsTest, WhatBecomesKnownLaterIsCheckedLater) {
  EXPECT_EQ(said({"--in", at("a.npy"), "--out", at("b.npy")}), "");
  EXPECT_THROW(alsoWrites(at("./a.npy"), "--other"), CommandError);
  EXPECT_THROW(alsoWrites(at("b.npy"), "--other"), CommandError);
  EXPECT_NO_THROW(alsoWrites(at("b.npy"), "--out"));
  EXPECT_THROW(alsoReads(at("b.npy"), "the recipe"), CommandError);
  EXPECT_NO_THROW(alsoReads(at("set/x.npy"), "the recipe"));
  EXPECT_THROW(alsoWrites(at("set/x.npy"), "--other"), CommandError);
}

TEST_F(PathsTest, PathsOfProcessesAreThoseOfEach) {
  std::ofstream(folder / "x-7.npy") << "of process 7";
  EXPECT_SAYS("x-7.npy: would overwrite",
              {"--in", at("x-{process}.npy"), "--out", at("x-{process}.npy")});
  EXPECT_SAYS("x-7.npy: would overwrite", {"--in", at("x-7.npy"), "--out", at("x-{process}.npy")});
  EXPECT_SAYS("would overwrite one another",
              {"--out", at("y-{process}.npy"), "--other", at("y-3.npy")});
  EXPECT_EQ(said({"--in", at("x-{process}.npy"), "--out", at("y-{process}.npy")}), "");
}

TEST(PathDeclarationsTest, AnOptionThatTakesTextSaysWhatItIs) {
  const auto of = [](const char* placeholder) {
    CLI::App app("", "octavo");
    std::string value;
    CLI::Option* option = app.add_subcommand("make", "")->add_option("--thing", value, "");
    if (placeholder != nullptr)
      option->type_name(placeholder);
    requireDeclared(app);
  };
  EXPECT_THROW(of(nullptr), std::logic_error);
  EXPECT_THROW(of("FILE.json"), std::logic_error);
  EXPECT_NO_THROW(of("REGEX"));
}

} // namespace
} // namespace octavo::tools
