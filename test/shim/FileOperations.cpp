// Loaded before the C library (LD_PRELOAD), for tests of what octavo does to files.
//
// OCTAVO_TRACE=FOLDER records what happens to names and what is synced below the folder
// OCTAVO_ROOT, in FOLDER/trace, a line an operation, paths relative to the root and separated by
// tabs:
//
//   sync PATH COPY       a file; its bytes by then are in FOLDER/COPY
//   sync-folder PATH
//   rename FROM TO COPY
//   remove PATH          a file or a folder
//   mkdir PATH
//
// OCTAVO_SIGNAL=NUMBER and OCTAVO_SIGNAL_AT=N raise a signal before the N-th of these operations
// below OCTAVO_ROOT, whether it is traced or not.
//
// OCTAVO_EUID=NUMBER is the user who runs the program, as far as it asks.
//
// OCTAVO_TRUNCATE=FILE and OCTAVO_TRUNCATE_AT=N cut the file to its first 100 bytes before it is
// read for the N-th time.

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace {

template <typename Function> Function original(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string pathOf(int file) {
  char path[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t length = readlink(link.c_str(), path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "";
}

/// Of a path that may be relative, and whose last part may be gone or not there yet.
std::string absolute(const char* path) {
  std::string text = path;
  while (text.size() > 1 && text.back() == '/')
    text.pop_back();
  const std::size_t slash = text.rfind('/');
  const std::string folder = slash == text.npos ? "." : slash == 0 ? "/" : text.substr(0, slash);
  char resolved[PATH_MAX];
  if (!realpath(folder.c_str(), resolved))
    return "";
  return std::string(resolved) + "/" + (slash == text.npos ? text : text.substr(slash + 1));
}

/// Relative to the root; empty for what does not lie below it.
std::string relative(const std::string& path) {
  const std::string root = variable("OCTAVO_ROOT");
  if (root.empty() || !path.starts_with(root) ||
      (path.size() > root.size() && path[root.size()] != '/'))
    return "";
  return path.size() == root.size() ? "." : path.substr(root.size() + 1);
}

bool isTraced() {
  static const bool is = !variable("OCTAVO_TRACE").empty();
  return is;
}

std::mutex mutex;

void record(const std::string& line) {
  const std::string text = line + "\n";
  const int trace = ::open((variable("OCTAVO_TRACE") + "/trace").c_str(),
                           O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (trace < 0 || ::write(trace, text.data(), text.size()) != std::ssize(text))
    std::abort();
  ::close(trace);
}

/// The name of a copy of the file as it is now.
std::string copyOf(const std::string& path) {
  static int copies = 0;
  const std::string name = std::to_string(++copies);
  std::FILE* from = std::fopen(path.c_str(), "rb");
  std::FILE* to = std::fopen((variable("OCTAVO_TRACE") + "/" + name).c_str(), "wb");
  if (!from || !to)
    std::abort();
  char buffer[1 << 16];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, from)) > 0;)
    if (std::fwrite(buffer, 1, n, to) != n)
      std::abort();
  std::fclose(from);
  std::fclose(to);
  return name;
}

void recordSync(int file) {
  struct stat status;
  const std::string path = pathOf(file), name = relative(path);
  if (name.empty() || fstat(file, &status) != 0)
    return;
  const std::lock_guard lock(mutex);
  record(S_ISDIR(status.st_mode) ? "sync-folder\t" + name : "sync\t" + name + "\t" + copyOf(path));
}

/// Of an operation on a path that has succeeded.
void recordPath(const char* operation, const std::string& path) {
  if (const std::string name = relative(path); !name.empty()) {
    const std::lock_guard lock(mutex);
    record(std::string(operation) + "\t" + name);
  }
}

/// Of an operation on a path below the root.
void beforeOperation(const std::string& path) {
  static const int at = std::atoi(variable("OCTAVO_SIGNAL_AT").c_str());
  static int operations = 0;
  if (at == 0 || relative(path).empty())
    return;
  bool isNow = false;
  {
    const std::lock_guard lock(mutex);
    isNow = ++operations == at;
  }
  if (isNow)
    std::raise(std::atoi(variable("OCTAVO_SIGNAL").c_str()));
}

void beforeRead(int file) {
  static const std::string path = variable("OCTAVO_TRUNCATE");
  static const long at = std::atol(variable("OCTAVO_TRUNCATE_AT").c_str());
  static long reads = 0;
  if (path.empty() || pathOf(file) != path)
    return;
  const std::lock_guard lock(mutex);
  constexpr off_t kLeft = 100;
  if (++reads == at && truncate(path.c_str(), kLeft) != 0)
    std::abort();
}

} // namespace

extern "C" {

int fsync(int file) {
  beforeOperation(pathOf(file));
  if (isTraced())
    recordSync(file);
  return original<int (*)(int)>("fsync")(file);
}

int rename(const char* from, const char* to) {
  beforeOperation(absolute(to));
  const std::string source = isTraced() ? absolute(from) : "",
                    target = isTraced() ? absolute(to) : "";
  const std::string copy = relative(target).empty() ? "" : [&] {
    const std::lock_guard lock(mutex);
    return copyOf(source);
  }();
  const int result = original<int (*)(const char*, const char*)>("rename")(from, to);
  if (result == 0 && !copy.empty()) {
    const std::lock_guard lock(mutex);
    record("rename\t" + relative(source) + "\t" + relative(target) + "\t" + copy);
  }
  return result;
}

int unlink(const char* path) {
  beforeOperation(absolute(path));
  const std::string place = isTraced() ? absolute(path) : "";
  const int result = original<int (*)(const char*)>("unlink")(path);
  if (result == 0)
    recordPath("remove", place);
  return result;
}

int rmdir(const char* path) {
  beforeOperation(absolute(path));
  const std::string place = isTraced() ? absolute(path) : "";
  const int result = original<int (*)(const char*)>("rmdir")(path);
  if (result == 0)
    recordPath("remove", place);
  return result;
}

int remove(const char* path) {
  beforeOperation(absolute(path));
  const std::string place = isTraced() ? absolute(path) : "";
  const int result = original<int (*)(const char*)>("remove")(path);
  if (result == 0)
    recordPath("remove", place);
  return result;
}

int mkdir(const char* path, mode_t mode) {
  beforeOperation(absolute(path));
  const std::string place = isTraced() ? absolute(path) : "";
  const int result = original<int (*)(const char*, mode_t)>("mkdir")(path, mode);
  if (result == 0)
    recordPath("mkdir", place);
  return result;
}

uid_t geteuid() {
  static const std::string given = variable("OCTAVO_EUID");
  return given.empty() ? original<uid_t (*)()>("geteuid")()
                       : static_cast<uid_t>(std::atol(given.c_str()));
}

ssize_t read(int file, void* to, size_t size) {
  beforeRead(file);
  return original<ssize_t (*)(int, void*, size_t)>("read")(file, to, size);
}

ssize_t pread(int file, void* to, size_t size, off_t offset) {
  beforeRead(file);
  return original<ssize_t (*)(int, void*, size_t, off_t)>("pread")(file, to, size, offset);
}

ssize_t pread64(int file, void* to, size_t size, off64_t offset) {
  beforeRead(file);
  return original<ssize_t (*)(int, void*, size_t, off64_t)>("pread64")(file, to, size, offset);
}

} // extern "C"
