#include "app/replay/replay_command.hpp"

#include "app/program/decision_file.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

namespace millwright::app {
namespace {

// A recording is in memory as a whole while it is read.
constexpr std::streamoff kMostOfAFile = std::streamoff{4} << 30U;

base::Result<std::string> read_day_file(const std::string& path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary | std::ios::ate);
    if (!file || file.tellg() < 0) {
      return base::fail(base::ErrorKind::NotFound,
                        "cannot read " + path + "; give a file, or - for standard input");
    }
    if (file.tellg() > kMostOfAFile) {
      return base::fail(base::ErrorKind::Invalid, path + " is larger than 4 GiB");
    }
    file.seekg(0);
  }
  std::ostringstream text;
  text << (path == "-" ? std::cin : file).rdbuf();
  return std::move(text).str();
}

base::Result<> write_picture(const std::string& path, const ReplayReport& report) {
  std::ofstream file(path, std::ios::binary);
  file << to_svg(report);
  file.close();
  return file ? base::Result<>()
              : base::fail(base::ErrorKind::Denied, "--svg: cannot write " + path);
}

base::Result<std::string> answer_replay(const ReplayArguments& arguments) {
  for (const auto& name : arguments.request.clouds) {
    if (!cloud::parse_profile(name)) {
      return base::fail(base::ErrorKind::Invalid,
                        "--simulated-clouds: there is no \"" + name +
                            "\"; there are kwok, aws, alibaba and huawei");
    }
  }
  auto request = arguments.request;
  if (!arguments.decision_log.empty()) {
    MW_TRY(file, DecisionFile::open(arguments.decision_log, {}));
    request.write_decision = [file](std::string_view line) { file->write(line); };
  }
  MW_TRY(report, replay_day(request, read_day_file));
  if (!arguments.svg.empty()) {
    if (auto written = write_picture(arguments.svg, report); !written) {
      return tl::unexpected(std::move(written).error());
    }
  }
  return arguments.output == "json" ? to_json(report) : to_text(report);
}

}  // namespace

int run_replay(const ReplayArguments& arguments) {
  const auto answer = answer_replay(arguments);
  if (!answer) {
    std::fprintf(stderr, "millwright replay: %s\n", answer.error().message.c_str());
    return 1;
  }
  std::fputs(answer->c_str(), stdout);
  return 0;
}

}  // namespace millwright::app
