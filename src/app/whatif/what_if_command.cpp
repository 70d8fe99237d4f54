#include "app/whatif/what_if_command.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

namespace millwright::app {
namespace {

base::Result<std::string> read_cluster_file(const std::string& path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file) {
      return base::fail(base::ErrorKind::NotFound,
                        "-f: cannot read " + path + "; give a file, or - for standard input");
    }
  }
  std::ostringstream text;
  text << (path == "-" ? std::cin : file).rdbuf();
  return text.str();
}

}  // namespace

base::Result<std::string> answer_what_if(const std::vector<std::string>& words,
                                         const ReadFile& read) {
  MW_TRY(request, parse_what_if(words));
  MW_TRY(forecast, make_forecast(request, read));
  return request.json ? to_json(forecast) : to_text(forecast);
}

int run_what_if(const std::vector<std::string>& words) {
  const auto answered = answer_what_if(words, read_cluster_file);
  if (!answered) {
    std::fprintf(stderr, "millwright what-if: %s\n", answered.error().message.c_str());
    return 1;
  }
  std::fputs(answered->c_str(), stdout);
  return 0;
}

}  // namespace millwright::app
