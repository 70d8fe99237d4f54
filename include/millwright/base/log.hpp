// Structured logging. spdlog is hidden behind it, so that its headers are compiled once. A Logger
// is a value: copy it, add fields to the copy, pass it on. Thread-safe.
//
// Field names are Karpenter's. One that begins with a capital letter names a Kubernetes object: its
// key is the kind, its value is the name or namespace/name. ("Pods" is a list in words.)
// `controller` says which controller speaks, and `reconcileID` holds together what one
// reconciliation said.
#pragma once

#include "millwright/base/time.hpp"

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace millwright::base {

enum class LogLevel { Debug, Info, Warn, Error };
enum class LogFormat { Text, Json };

using LogField = std::pair<std::string, std::string>;

// Receives finished records. Tests and the sandbox have sinks of their own.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual bool enabled(LogLevel level) const = 0;
  virtual void write(LogLevel level, std::string_view logger, std::string_view message,
                     const std::vector<LogField>& fields) = 0;
};

class Logger {
 public:
  Logger() = default;  // writes nothing
  Logger(std::shared_ptr<LogSink> sink, std::string name)
      : sink_(std::move(sink)), name_(std::move(name)) {}

  // The same logger with another name, for a component.
  Logger named(std::string name) const;
  // The same logger with `fields` added to every record.
  Logger with(std::initializer_list<LogField> fields) const;

  void debug(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void info(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void warn(std::string_view message, std::initializer_list<LogField> fields = {}) const;
  void error(std::string_view message, std::initializer_list<LogField> fields = {}) const;

 private:
  void write(LogLevel level, std::string_view message,
             std::initializer_list<LogField> fields) const;
  std::shared_ptr<LogSink> sink_;
  std::string name_;
  std::vector<LogField> fields_;
};

// One record as a line of Karpenter's JSON log, with objects nested:
//   {"level":"INFO","time":"...","logger":"controller","message":"created nodeclaim",
//    "controller":"provisioner","reconcileID":"...","NodeClaim":{"name":"default-abcde"}}
std::string json_line(std::string_view time, LogLevel level, std::string_view logger,
                      std::string_view message, const std::vector<LogField>& fields);
// The same for people: "<time> INFO  controller.provisioner: created nodeclaim NodeClaim=...".
// Leaves out what only tools need: commit, namespace, name, reconcileID and
// command-id.
std::string text_line(std::string_view time, LogLevel level, std::string_view logger,
                      std::string_view message, const std::vector<LogField>& fields);

// Writes such lines to standard output. `now` gives the time stamped on each record.
std::shared_ptr<LogSink> stdout_sink(LogLevel level, LogFormat format,
                                     std::function<TimePoint()> now);

}  // namespace millwright::base
