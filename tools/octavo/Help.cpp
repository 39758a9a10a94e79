#include "tools/octavo/Help.h"

#include "tools/octavo/Paths.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace octavo::tools {

namespace {

constexpr std::size_t kHelpColumns = 100;

/// The groups of options of which a command needs one, by the command's typed name. Not by address:
/// a new command can have the address of a destroyed one.
std::map<std::string, std::vector<std::vector<const CLI::Option*>>>& alternatives() {
  static std::map<std::string, std::vector<std::vector<const CLI::Option*>>> all;
  return all;
}

/// Wraps a line of CLI11's help between words. Continuation lines begin at column `indent`.
std::string wrapped(const std::string& line, std::size_t indent) {
  std::string text;
  std::string_view rest = line;
  while (rest.size() > kHelpColumns) {
    std::size_t at = rest.rfind(' ', kHelpColumns);
    // No word ends between the indentation and the last column, so the word stays whole.
    if (at == rest.npos || at <= indent)
      at = rest.find(' ', kHelpColumns);
    if (at == rest.npos)
      break;
    text += rest.substr(0, at);
    text += '\n';
    text.append(indent, ' ');
    const std::string tail(rest.substr(at + 1));
    return text + wrapped(std::string(indent, ' ') + tail, indent).substr(indent);
  }
  return text + std::string(rest);
}

/// Wraps each line of a piece of help.
std::string wrappedLines(std::string_view text, std::size_t indent) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines += wrapped(std::string(text.substr(0, end)), indent);
    if (end < text.size())
      lines += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

class WrappingFormatter : public CLI::Formatter {
public:
  std::string make_option(const CLI::Option* option, bool isPositional) const override {
    return wrappedLines(CLI::Formatter::make_option(option, isPositional), get_column_width());
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return wrappedLines(CLI::Formatter::make_subcommand(command), get_column_width());
  }
};

/// The command that `words` name, below `app`. Throws CommandError if a word is not a command.
const CLI::App& commandNamed(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    const CLI::App* next = nullptr;
    std::vector<std::string> known;
    for (const CLI::App* each : command->get_subcommands([](const CLI::App*) { return true; })) {
      known.push_back(each->get_name());
      if (each->get_name() == word)
        next = each;
    }
    if (next == nullptr)
      throw CommandError(known.empty()
                             ? fmt::format("{} has no subcommands", typedName(*command))
                             : unknownName("subcommand of " + typedName(*command), word, known),
                         ExitCode::BadUsage);
    command = next;
  }
  return *command;
}

} // namespace

std::string typedName(const CLI::App& command) {
  return command.get_parent() ? typedName(*command.get_parent()) + " " + command.get_name()
                              : command.get_name();
}

std::string optionName(const CLI::Option& option) {
  return option.nonpositional() ? "--" + (option.get_lnames().empty() ? option.get_snames().front()
                                                                      : option.get_lnames().front())
                                : option.get_name(true);
}

void wrapHelp(CLI::App& app) { app.formatter(std::make_shared<WrappingFormatter>()); }

void needsOneOf(const CLI::App& command, std::vector<const CLI::Option*> options) {
  alternatives()[typedName(command)].push_back(std::move(options));
}

std::vector<std::string> missingOptions(const CLI::App& command) {
  std::vector<std::string> missing;
  for (const CLI::Option* option : command.get_options())
    if (option->get_required() && option->count() == 0)
      missing.push_back(optionName(*option));
  if (const auto found = alternatives().find(typedName(command)); found != alternatives().end())
    for (const auto& options : found->second) {
      std::vector<std::string> names;
      bool isGiven = false;
      for (const CLI::Option* option : options) {
        names.push_back(optionName(*option));
        isGiven |= option->count() > 0;
      }
      if (!isGiven)
        missing.push_back(fmt::format("{}", fmt::join(names, " or ")));
    }
  return missing;
}

std::string requiredText(const std::vector<std::string>& missing) {
  if (missing.size() == 1)
    return missing.front() + " is required";
  return fmt::format("{} and {} are required", fmt::join(missing.begin(), missing.end() - 1, ", "),
                     missing.back());
}

void addHelpCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand("help", "Print the help of a command");
  auto words = std::make_shared<std::vector<std::string>>();
  takesNoPath(command->add_option("COMMAND", *words, "The command, such as: checkpoint quantize"));
  command->footer(R"(Examples:
  octavo help run
  octavo help checkpoint quantize)");
  command->callback([&app, words] {
    const CLI::App& asked = commandNamed(app, *words);
    printText(app.get_formatter()->make_help(&asked, typedName(asked), CLI::AppFormatMode::Normal));
  });
}

} // namespace octavo::tools
