// octavo completion: prints completion scripts for shells, generated from the commands and options.

#include "tools/octavo/Commands.h"
#include "tools/octavo/FormatNames.h"
#include "tools/octavo/Help.h"
#include "tools/octavo/Paths.h"

#include "octavo/Checkpoint/Layouts/Layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace octavo::tools {

namespace {

constexpr const char* kShells[] = {"bash", "zsh", "fish"};

/// The values of an option or an argument.
struct Values {
  enum class Kind : std::uint8_t { None, Files, Words, Text } kind = Kind::None; // None: a flag
  std::vector<std::string> words = {};
};

struct OptionRow {
  std::vector<std::string> names; ///< "--output", "-o"
  std::string help;
  Values values;
};

struct CommandRow {
  std::string name; ///< "octavo checkpoint quantize"
  std::string help;
  std::vector<std::string> words; ///< subcommands, or values of the command's argument
  std::vector<OptionRow> options;
};

/// The words that an option's placeholder stands for; empty: any text.
std::vector<std::string> wordsOf(const std::string& placeholder) {
  std::vector<std::string> words;
  if (placeholder == "FORMAT" || placeholder == "FORMAT|none")
    words = scaledFormatNames();
  if (placeholder == "FORMAT|none")
    words.emplace_back("none");
  else if (placeholder == "RULE")
    words = scaleRuleNames();
  else if (placeholder == "LAYOUT")
    for (const checkpoint::Layout* layout : checkpoint::layouts())
      words.emplace_back(layout->name());
  else if (placeholder == "DTYPE")
    words = {"bf16", "f16", "f32"};
  else if (placeholder == "SHELL")
    words.assign(std::begin(kShells), std::end(kShells));
  return words;
}

Values valuesOf(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0)
    return {};
  if (namesPath(option))
    return {.kind = Values::Kind::Files};
  const std::string type = option.get_type_name();
  std::vector<std::string> words = wordsOf(type.substr(0, type.find(':')));
  return {.kind = words.empty() ? Values::Kind::Text : Values::Kind::Words,
          .words = std::move(words)};
}

void addRows(const CLI::App& command, std::vector<CommandRow>& rows) {
  CommandRow row{
      .name = typedName(command), .help = command.get_description(), .words = {}, .options = {}};
  const auto below = command.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* each : below)
    row.words.push_back(each->get_name());
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty())
      continue; // hidden
    if (!option->nonpositional()) {
      std::ranges::move(valuesOf(*option).words, std::back_inserter(row.words));
      continue;
    }
    OptionRow& each = row.options.emplace_back();
    for (const std::string& name : option->get_lnames())
      each.names.push_back("--" + name);
    for (const std::string& name : option->get_snames())
      each.names.push_back("-" + name);
    each.help = option->get_description();
    each.values = valuesOf(*option);
  }
  rows.push_back(std::move(row));
  for (const CLI::App* each : below)
    addRows(*each, rows);
}

/// Quotes a word in single quotes.
std::string quoted(const std::string& text) {
  std::string inside;
  for (const char c : text)
    inside += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + inside + "'";
}

/// `'NAME OPTION'|'NAME OPTION') BODY ;;` for the options that `pick` selects.
template <typename Pick>
std::string optionCase(const std::vector<CommandRow>& rows, const Pick& pick,
                       const std::string& body) {
  std::vector<std::string> patterns;
  for (const CommandRow& row : rows)
    for (const OptionRow& option : row.options)
      if (pick(option.values))
        for (const std::string& name : option.names)
          patterns.push_back(quoted(row.name + " " + name));
  return patterns.empty() ? "" : fmt::format("    {}) {} ;;\n", fmt::join(patterns, "|"), body);
}

/// Functions for both bash and zsh. `_octavo_down AT WORD` sets `at` to the command that WORD leads
/// to. `_octavo_look AT PREVIOUS` sets `kind` and `candidates` for the word after PREVIOUS.
std::string commonFunctions(const std::vector<CommandRow>& rows) {
  std::vector<std::string> commands;
  for (const CommandRow& row : rows)
    if (row.name != "octavo")
      commands.push_back(quoted(row.name));
  std::string text = fmt::format(R"(_octavo_down() {{
  case "$1 $2" in
    'octavo help') ;;
    {}) at="$1 $2" ;;
  esac
}}
_octavo_look() {{
  kind=names candidates='' options=''
  case "$1 $2" in
)",
                                 fmt::join(commands, "|"));
  using Kind = Values::Kind;
  text += optionCase(
      rows, [](const Values& values) { return values.kind == Kind::Files; }, "kind=files; return");
  text += optionCase(
      rows, [](const Values& values) { return values.kind == Kind::Text; }, "kind=text; return");
  std::vector<std::vector<std::string>> lists;
  for (const CommandRow& row : rows)
    for (const OptionRow& option : row.options)
      if (!option.values.words.empty() &&
          std::ranges::find(lists, option.values.words) == lists.end())
        lists.push_back(option.values.words);
  for (const std::vector<std::string>& words : lists)
    text += optionCase(
        rows, [&](const Values& values) { return values.words == words; },
        fmt::format("kind=words candidates={}; return",
                    quoted(fmt::format("{}", fmt::join(words, " ")))));
  text += "  esac\n  case \"$1\" in\n";
  for (const CommandRow& row : rows) {
    std::vector<std::string> options;
    for (const OptionRow& option : row.options)
      std::ranges::copy(option.names, std::back_inserter(options));
    text += fmt::format("    {}) candidates={} options={} ;;\n", quoted(row.name),
                        quoted(fmt::format("{}", fmt::join(row.words, " "))),
                        quoted(fmt::format("{}", fmt::join(options, " "))));
  }
  return text + "  esac\n}\n";
}

constexpr const char* kBash = R"(_octavo() {
  local at=octavo kind candidates options word
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
  # Bash makes --option=value three words.
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $previous == '=' ]]; then
    previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    _octavo_down "$at" "$word"
  done
  _octavo_look "$at" "$previous"
  COMPREPLY=()
  if [[ $kind == names && $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ $kind == words || -n $candidates ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$current")
  elif [[ $kind != text ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -F _octavo octavo
)";

constexpr const char* kZsh = R"(_octavo() {
  local at=octavo kind candidates options word
  local current=${words[CURRENT]} previous=${words[CURRENT-1]}
  if [[ $current == --*=* ]]; then
    previous=${current%%=*}
    compset -P '*='
  fi
  for word in "${words[@]:1:CURRENT-2}"; do
    _octavo_down "$at" "$word"
  done
  _octavo_look "$at" "$previous"
  if [[ $kind == names && $current == -* ]]; then
    compadd -- ${=options}
  elif [[ $kind == words || -n $candidates ]]; then
    compadd -- ${=candidates}
  elif [[ $kind != text ]]; then
    _files
  fi
}
compdef _octavo octavo
)";

std::string fishScript(const std::vector<CommandRow>& rows) {
  std::vector<std::string> commands;
  for (const CommandRow& row : rows)
    if (row.name != "octavo" && row.name != "octavo help")
      commands.push_back(quoted(row.name));
  std::string text = fmt::format(R"(function __octavo_is
  set -l at octavo
  for word in (commandline -opc)[2..]
    if contains -- "$at $word" {}
      set at "$at $word"
    end
  end
  test "$at" = "$argv"
end
complete -c octavo -f
)",
                                 fmt::join(commands, " "));
  for (const CommandRow& row : rows) {
    const std::string at =
        fmt::format("complete -c octavo -n {}", quoted("__octavo_is " + row.name));
    if (row.words.empty())
      text += at + " -F\n";
    for (const std::string& word : row.words) {
      const auto below = std::ranges::find(rows, row.name + " " + word, &CommandRow::name);
      text += fmt::format("{} -a {}{}\n", at, quoted(word),
                          below == rows.end() ? "" : " -d " + quoted(below->help));
    }
    for (const OptionRow& option : row.options) {
      std::string names;
      for (const std::string& name : option.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      constexpr const char* kTakes[] = {"", " -r -F", " -x", " -x"};
      text += fmt::format(
          "{}{}{}{} -d {}\n", at, names, kTakes[static_cast<std::size_t>(option.values.kind)],
          option.values.words.empty()
              ? ""
              : " -a " + quoted(fmt::format("{}", fmt::join(option.values.words, " "))),
          quoted(option.help));
    }
  }
  return text;
}

std::string completionScript(const CLI::App& app, const std::string& shell) {
  std::vector<CommandRow> rows;
  addRows(app, rows);
  if (shell == "bash")
    return "# bash completion of octavo\n" + commonFunctions(rows) + kBash;
  if (shell == "zsh")
    return "#compdef octavo\n" + commonFunctions(rows) + kZsh;
  if (shell == "fish")
    return "# fish completion of octavo\n" + fishScript(rows);
  throw CommandError(unknownName("shell", shell, {std::begin(kShells), std::end(kShells)}),
                     ExitCode::BadUsage);
}

} // namespace

void addCompletionCommand(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("completion", "Print a script that completes octavo's command lines");
  auto shell = std::make_shared<std::string>();
  takesNoPath(command->add_option("SHELL", *shell, "The shell: bash, zsh or fish")
                  ->type_name("SHELL")
                  ->required());
  command->footer(R"(Examples:
  source <(octavo completion bash)
  octavo completion bash > ~/.local/share/bash-completion/completions/octavo
  octavo completion fish > ~/.config/fish/completions/octavo.fish)");
  command->callback([&app, shell] { printText(completionScript(app, *shell)); });
}

} // namespace octavo::tools
