#include "octavo/Compiler/Codegen/CompilationCache.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <unistd.h>

namespace octavo::compiler {
namespace {

namespace fs = std::filesystem;

class CompilationCacheTest : public testing::Test {
protected:
  CompilationCacheTest() {
    std::string name = testing::TempDir() + "/octavo-cache-XXXXXX";
    root = ::mkdtemp(name.data());
  }
  ~CompilationCacheTest() override { fs::remove_all(root); }

  static std::size_t countIn(const fs::path& folder) {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder))
      count += entry.path().filename().string().starts_with("llvmcache-") ? 1 : 0;
    return count;
  }

  fs::path root;
};

/// An attacker who may write to the parent folder exchanges the cache's folder after it was
/// checked.
TEST_F(CompilationCacheTest, aFolderThatIsExchangedIsNotUsed) {
  const CompilationCache cache(root / "cache");
  ASSERT_TRUE(cache.isUsed());
  cache.keep("0123", "code");
  fs::rename(root / "cache", root / "former");
  {
    const CompilationCache others(root / "cache");
    others.keep("0123", "code of others");
  }
  const auto found = cache.find("0123");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->getBuffer(), "code");
  cache.keep("4567", "more");
  EXPECT_EQ(countIn(root / "former"), 2U);
  EXPECT_EQ(countIn(root / "cache"), 1U);
}

TEST_F(CompilationCacheTest, entriesAreThoseOfTheirKeys) {
  const CompilationCache cache(root / "a" / "b" / "cache");
  EXPECT_FALSE(cache.find("0123"));
  cache.keep("0123", "code");
  cache.keep("4567", std::string(100000, 'x'));
  EXPECT_EQ(cache.find("0123")->getBuffer(), "code");
  EXPECT_EQ(cache.find("4567")->getBuffer(), std::string(100000, 'x'));
  fs::rename(root / "a/b/cache/llvmcache-0123", root / "a/b/cache/llvmcache-4567");
  EXPECT_FALSE(cache.find("4567"));
  EXPECT_FALSE(CompilationCache("").isUsed());
  EXPECT_EQ(CompilationCache("").refusal(), "");
}

} // namespace
} // namespace octavo::compiler
