#include "app/commands/why_command.hpp"

#include "app/asking/answer.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

namespace millwright::app {
namespace {

base::Result<std::string> read_lines(const std::string& path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path);
    if (!file) {
      return base::fail(base::ErrorKind::NotFound,
                        "--decisions: cannot read " + path +
                            "; give the file of --decision-log, or - for standard input");
    }
  }
  std::ostringstream text;
  text << (path == "-" ? std::cin : file).rdbuf();
  return text.str();
}

base::Result<Reply> ask_server(const WhyArguments& arguments) {
  MW_TRY(question, make_question(arguments.kind, arguments.name, arguments.namespace_));
  return ask_remotely(question, arguments.output, arguments.server);
}

base::Result<Answer> ask(const WhyArguments& arguments) {
  MW_TRY(question, make_question(arguments.kind, arguments.name, arguments.namespace_));
  MW_TRY(text, read_lines(arguments.decisions));
  return answer(question, read_decisions(text));
}

int run_why_remotely(const WhyArguments& arguments) {
  const auto replied = ask_server(arguments);
  if (!replied) {
    std::fprintf(stderr, "millwright why: %s\n", replied.error().message.c_str());
    return 2;
  }
  std::fputs(replied->text.c_str(), stdout);
  return replied->known ? 0 : 1;
}

}  // namespace

int run_why(const WhyArguments& arguments) {
  if (!arguments.server.url.empty()) {
    return run_why_remotely(arguments);
  }
  const auto answered = ask(arguments);
  if (!answered) {
    std::fprintf(stderr, "millwright why: %s\n", answered.error().message.c_str());
    return 2;
  }
  const std::string shown = arguments.output == "json" ? to_json(*answered) : to_text(*answered);
  std::fputs(shown.c_str(), stdout);
  return answered->known ? 0 : 1;
}

}  // namespace millwright::app
