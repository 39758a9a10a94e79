#include "octavo/Interpreter/Grid.h"
#include "octavo/Dialect/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::interpreter {

llvm::Error Grid::stop() {
  return llvm::createStringError("stopped, because another process failed");
}

llvm::Error Grid::failure() const {
  return message.empty() ? llvm::Error::success() : llvm::createStringError(message);
}

std::string Grid::nameOf(std::int64_t process) const {
  return "process (replica " + std::to_string(process / partitionCount) + ", partition " +
         std::to_string(process % partitionCount) + ")";
}

void Grid::stopIfDeadlocked() {
  if (stopped)
    return;
  bool waits = false;
  for (const Process& process : processes) {
    if (process.isFinished)
      continue;
    if (process.waitsAt == nullptr || process.isReady())
      return;
    waits = true;
  }
  if (!waits)
    return;
  message = "deadlock: every process waits for another, or has finished";
  for (auto [number, process] : llvm::enumerate(processes)) {
    message += "\n  " + nameOf(static_cast<std::int64_t>(number));
    if (process.isFinished)
      message += " has finished";
    else
      message += " waits at " + locationText(process.waitsAt->getLoc()) + ": '" +
                 process.waitsAt->getName().getStringRef().str() + "'";
  }
  stopped = true;
  changed.notify_all();
}

bool Grid::wait(std::unique_lock<std::mutex>& lock, mlir::Operation* op, std::int64_t process,
                std::function<bool()> isReady) {
  Process& self = processes[static_cast<std::size_t>(process)];
  self.waitsAt = op;
  self.isReady = std::move(isReady);
  stopIfDeadlocked();
  changed.wait(lock, [&] { return stopped || self.isReady(); });
  const bool goesOn = self.isReady();
  self.waitsAt = nullptr;
  self.isReady = nullptr;
  return goesOn;
}

llvm::Expected<std::vector<Results>> Grid::meet(mlir::Operation* op, std::int64_t process,
                                                const std::string& name,
                                                llvm::ArrayRef<std::int64_t> group,
                                                Results values) {
  std::unique_lock lock(mutex);
  std::string key = name;
  for (std::int64_t member : group)
    key += "," + std::to_string(member);
  std::shared_ptr<Meeting>& found = meetings[key];
  if (!found) {
    found = std::make_shared<Meeting>();
    found->values.resize(group.size());
    found->missing = group.size();
  }
  const std::shared_ptr<Meeting> meeting = found;
  const auto place = static_cast<std::size_t>(llvm::find(group, process) - group.begin());
  meeting->values[place] = std::move(values);
  if (--meeting->missing == 0) {
    meetings.erase(key);
    changed.notify_all();
  }
  if (!wait(lock, op, process, [meeting] { return meeting->missing == 0; }))
    return stop();
  std::vector<Results> all;
  for (const std::optional<Results>& one : meeting->values)
    all.push_back(*one);
  return all;
}

void Grid::put(const std::string& name, Results values) {
  const std::scoped_lock lock(mutex);
  sent[name].push_back(std::move(values));
  changed.notify_all();
}

llvm::Expected<Results> Grid::take(mlir::Operation* op, std::int64_t process,
                                   const std::string& name) {
  std::unique_lock lock(mutex);
  std::deque<Results>& queue = sent[name];
  if (!wait(lock, op, process, [&queue] { return !queue.empty(); }))
    return stop();
  Results values = std::move(queue.front());
  queue.pop_front();
  return values;
}

std::optional<Results> Grid::takeIfThere(const std::string& name) {
  const std::scoped_lock lock(mutex);
  const auto found = sent.find(name);
  if (found == sent.end() || found->second.empty())
    return std::nullopt;
  Results values = std::move(found->second.front());
  found->second.pop_front();
  return values;
}

void Grid::finish(std::int64_t process, llvm::Error error) {
  const std::scoped_lock lock(mutex);
  const auto number = static_cast<std::size_t>(process);
  processes[number].isFinished = true;
  if (error) {
    std::string text = llvm::toString(std::move(error));
    if (!stopped)
      message = size() == 1 ? std::move(text) : nameOf(process) + ": " + text;
    stopped = true;
    changed.notify_all();
  }
  stopIfDeadlocked();
}

} // namespace octavo::interpreter
