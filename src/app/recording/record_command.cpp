#include "app/recording/record_command.hpp"

#include "app/program/signals.hpp"
#include "app/recording/cluster_recording.hpp"
#include "millwright/base/version.hpp"
#include "millwright/kube/config.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace millwright::app {
namespace {

// Problems of the watches, for people: standard output may be the recording.
class StderrSink final : public base::LogSink {
 public:
  bool enabled(base::LogLevel level) const override { return level >= base::LogLevel::Warn; }
  void write(base::LogLevel level, std::string_view logger, std::string_view message,
             const std::vector<base::LogField>& fields) override {
    std::fputs(
        (base::text_line(base::format_rfc3339(base::system_now()), level, logger, message, fields) +
         "\n")
            .c_str(),
        stderr);
  }
};

class RecordingFile {
 public:
  // "-" is standard output. A file that exists is left alone.
  static base::Result<std::unique_ptr<RecordingFile>> open(const std::string& path) {
    if (path == "-") {
      return std::unique_ptr<RecordingFile>(new RecordingFile(path, stdout));
    }
    // Only its owner reads it: it says what runs in the cluster.
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    std::FILE* file = descriptor < 0 ? nullptr : fdopen(descriptor, "w");
    if (file == nullptr) {
      return base::fail(base::ErrorKind::Denied,
                        "--output: cannot make " + path + ": " +
                            std::generic_category().message(errno) +
                            (errno == EEXIST ? "; a recording is never written over" : ""));
    }
    return std::unique_ptr<RecordingFile>(new RecordingFile(path, file));
  }
  ~RecordingFile() {
    if (file_ != stdout) {
      std::fclose(file_);
    }
  }
  RecordingFile(const RecordingFile&) = delete;
  RecordingFile& operator=(const RecordingFile&) = delete;

  // Each line is given to the system at once: what ends this process cuts one line at most.
  base::Result<> write(std::string_view line) {
    if (std::fwrite(line.data(), 1, line.size(), file_) != line.size() || std::fflush(file_) != 0) {
      return base::fail(base::ErrorKind::Unavailable, "--output: cannot write " + path_ + ": " +
                                                          std::generic_category().message(errno));
    }
    return {};
  }

 private:
  RecordingFile(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  std::FILE* file_;
};

base::Result<kube::Config> cluster_to_record(const RecordArguments& arguments,
                                             const Environment& environment) {
  if (arguments.kubeconfig.empty() && environment("KUBERNETES_SERVICE_HOST")) {
    return kube::in_cluster_config(environment);
  }
  auto path = arguments.kubeconfig;
  if (path.empty()) {
    path = environment("KUBECONFIG").value_or("");
  }
  if (path.empty()) {
    path = environment("HOME").value_or("") + "/.kube/config";
  }
  return kube::load_kubeconfig(path, arguments.context);
}

base::Task<void> record_until(ClusterRecording* recording, std::stop_token stop,
                              base::Result<RecordingOutcome>& outcome, base::RealLoop& loop) {
  outcome = co_await recording->run(std::move(stop));
  loop.stop();
}

// While it runs there is nothing else to see.
void say_that_it_records(const RecordArguments& arguments) {
  const std::string end = arguments.duration.empty()
                              ? "until Ctrl-C"
                              : "for " + arguments.duration + ", or until Ctrl-C";
  std::fputs(("Everything is listed; recording what happens " + end + ".\n").c_str(), stderr);
}

std::string outcome_text(const RecordingOutcome& outcome, const std::string& file) {
  const std::string until = outcome.ended == "duration" ? "--duration was over"
                            : outcome.ended == "size"   ? "--max-megabytes was reached"
                                                        : "it was stopped";
  std::string said = fmt::format("Recorded {} lines, {:.1f} MB, until {}.\n", outcome.lines,
                                 static_cast<double>(outcome.bytes) / 1e6, until);
  for (const auto& resource : outcome.without) {
    said += fmt::format("Without {}: they could not be listed.\n", resource);
  }
  if (!outcome.listed) {
    said += "It ended before everything was listed, so it cannot be replayed.\n";
  } else if (file != "-") {
    said += "Next: millwright replay " + file + "\n";
  }
  return said;
}

base::Result<RecordingOutcome> record(const RecordArguments& arguments,
                                      const Environment& environment) {
  std::optional<base::Duration> duration;
  if (!arguments.duration.empty()) {
    const auto parsed = base::parse_go_duration(arguments.duration);
    if (!parsed || *parsed <= base::Duration::zero()) {
      return base::fail(base::ErrorKind::Invalid,
                        "--duration: \"" + arguments.duration + "\" must be like 24h or 90m");
    }
    duration = *parsed;
  }
  MW_TRY(config, cluster_to_record(arguments, environment));
  MW_TRY(file, RecordingFile::open(arguments.output));
  base::RealLoop loop(1.0, base::system_now());
  const base::Logger log(std::make_shared<StderrSink>(), "record");
  kube::Client client(loop, kube::make_transport(loop, std::move(config), log,
                                                 std::string("millwright/") + base::version()));
  std::optional<NameHash> names;
  if (arguments.hash_names) {
    names = NameHash::make();
  }
  ClusterRecording recording({.client = client,
                              .redaction = Redaction(NameHash::make(), std::move(names)),
                              .write = [&file](std::string_view line) { return file->write(line); },
                              .duration = duration,
                              .most_bytes = arguments.most_megabytes << 20U,
                              .seed = base::entropy_seed(),
                              .log = log,
                              .on_listed = [&arguments] { say_that_it_records(arguments); }});
  std::stop_source stop;
  const Signals signals([&](int) { loop.post([&stop] { stop.request_stop(); }); });
  base::Result<RecordingOutcome> outcome =
      base::fail(base::ErrorKind::Internal, "the loop ended before the recording");
  base::TaskGroup group(loop);
  group.spawn(record_until(&recording, stop.get_token(), outcome, loop));
  loop.run();
  return outcome;
}

}  // namespace

int run_record(const RecordArguments& arguments, const Environment& environment) {
  const auto outcome = record(arguments, environment);
  if (!outcome) {
    std::fprintf(stderr, "millwright record: %s\n", outcome.error().message.c_str());
    return 1;
  }
  std::fputs(outcome_text(*outcome, arguments.output).c_str(), stderr);
  return outcome->listed ? 0 : 1;
}

}  // namespace millwright::app
