#include "octavo/Checkpoint/Files/OutputFile.h"

#include "octavo/Checkpoint/Files/FolderLock.h"
#include "octavo/Checkpoint/Files/TemporaryName.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace octavo::checkpoint {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
protected:
  OutputFileTest() {
    std::string name = testing::TempDir() + "/octavo-output-XXXXXX";
    folder = ::mkdtemp(name.data());
  }
  ~OutputFileTest() override {
    ::umask(mask);
    fs::remove_all(folder);
  }

  void write(const std::string& name, const std::string& text) const {
    auto file = OutputFile::create(folder / name);
    ASSERT_TRUE(file) << file.error().message();
    ASSERT_TRUE(file->write(text));
    ASSERT_TRUE(file->commit());
  }
  static void put(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  /// Every file below the folder and its text.
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file())
        all[entry.path().lexically_relative(folder)] =
            std::string(std::istreambuf_iterator(std::ifstream(entry.path()).rdbuf()), {});
    return all;
  }
  struct stat statusOf(const fs::path& path) const {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status;
  }
  /// The one temporary file.
  fs::path temporary() const {
    for (const auto& entry : fs::directory_iterator(folder))
      if (isTemporaryName(entry.path().filename().string()))
        return entry.path();
    ADD_FAILURE() << "no temporary file";
    return {};
  }

  fs::path folder;
  mode_t mask = ::umask(022);
};

TEST_F(OutputFileTest, aNewFileHasTheModeOfAnyNewFile) {
  for (const auto [mask, mode] : {std::pair(022, 0644), {077, 0600}, {002, 0664}}) {
    ::umask(static_cast<mode_t>(mask));
    write(std::to_string(mask), "x");
    EXPECT_EQ(statusOf(folder / std::to_string(mask)).st_mode & 07777, mode);
    EXPECT_EQ(::umask(022), static_cast<mode_t>(mask)) << "the process's own is as before";
  }
}

TEST_F(OutputFileTest, aFileThatIsReplacedKeepsItsModeAndOwner) {
  for (const mode_t mode : {0600, 0640, 0666, 0755}) {
    put(folder / "x", "old");
    ASSERT_EQ(::chmod((folder / "x").c_str(), mode), 0);
    if (::geteuid() == 0)
      ASSERT_EQ(::chown((folder / "x").c_str(), 1234, 2345), 0);
    const struct stat before = statusOf(folder / "x");
    ::umask(077);
    write("x", "new");
    const struct stat after = statusOf(folder / "x");
    EXPECT_EQ(after.st_mode, before.st_mode);
    EXPECT_EQ(after.st_uid, before.st_uid);
    EXPECT_EQ(after.st_gid, before.st_gid);
    EXPECT_NE(after.st_ino, before.st_ino);
    EXPECT_EQ(contents(), (std::map<std::string, std::string>{{"x", "new"}}));
    fs::remove(folder / "x");
  }
}

TEST_F(OutputFileTest, whatIsNotWholeHasANameThatNobodyElseHas) {
  auto file = OutputFile::create(folder / "x");
  ASSERT_TRUE(file);
  EXPECT_EQ(contents().size(), 1u);
  EXPECT_TRUE(isTemporaryName(temporary().filename().string()));
  EXPECT_NE(temporaryName(), temporaryName());
  for (const char* name : {"x.abcdef", ".octavo-notes", ".octavo-backup", ".octavo-job.json",
                           ".octavo-.part", ".octavo-0123456789abcdef0123456789abcde.part",
                           ".octavo-0123456789ABCDEF0123456789abcdef.part",
                           ".octavo-0123456789abcdef0123456789abcdef.part.txt"})
    EXPECT_FALSE(isTemporaryName(name)) << name;
}

TEST_F(OutputFileTest, onlyTemporaryFilesOfProcessesThatAreGoneAreRemoved) {
  const std::map<std::string, std::string> innocent = {
      {"x", "1"},        {"x.backup", "2"},       {"x.before", "3"},     {"x.sha256", "4"},
      {"x.abcdef", "5"}, {".octavo-backup", "6"}, {"sub/x.XXXXXX", "7"}, {".octavo-notes", ""}};
  for (const auto& [name, text] : innocent)
    put(folder / name, text);
  put(folder / temporaryName(), "torn");
  put(folder / "sub" / temporaryName(), "torn");
  const std::string folderName = temporaryName();
  put(folder / folderName / "mine", "of a folder");
  fs::create_symlink(folder / "x", folder / temporaryName());
  auto living = OutputFile::create(folder / "new");
  ASSERT_TRUE(living);
  ASSERT_TRUE(living->write("new"));

  const auto lock = FolderLock::take(folder);
  ASSERT_TRUE(lock) << lock.error().message();
  EXPECT_FALSE(FolderLock::take(folder)) << "while this one holds it";
  lock->removeTemporaries();
  ASSERT_TRUE(living->commit()) << "what another writes is still there";
  auto left = contents();
  EXPECT_EQ(left.extract("new").mapped(), "new");
  EXPECT_EQ(left.extract(folderName + "/mine").mapped(), "of a folder");
  std::erase_if(left, [](const auto& file) { return isTemporaryName(file.first); }); // the link
  EXPECT_EQ(left, innocent);
}

TEST_F(OutputFileTest, nothingIsLeftUnlessItIsPlaced) {
  put(folder / "x", "old");
  {
    auto file = OutputFile::create(folder / "x");
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("new"));
    EXPECT_EQ(statusOf(temporary()).st_mode & 07777, statusOf(folder / "x").st_mode & 07777);
  }
  EXPECT_EQ(contents(), (std::map<std::string, std::string>{{"x", "old"}}));
}

TEST_F(OutputFileTest, aNameOfAnyLengthCanBeWritten) {
  const std::string longest(255, 'x'); // NAME_MAX of Linux's file systems
  write(longest, "x");
  EXPECT_EQ(contents().begin()->first, longest);
}

} // namespace
} // namespace octavo::checkpoint
