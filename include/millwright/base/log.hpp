// Structured logging behind a small façade, so that spdlog is compiled once. A Logger is a value:
// copy it, add fields to the copy, pass it on. Thread-safe.
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

// Receives finished records; tests and the sandbox give their own.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual bool enabled(LogLevel level) const = 0;
  virtual void write(LogLevel level, std::string_view logger, std::string_view message,
                     const std::vector<LogField>& fields) = 0;
};

class Logger {
 public:
  Logger() = default;  // discards
  Logger(std::shared_ptr<LogSink> sink, std::string name)
      : sink_(std::move(sink)), name_(std::move(name)) {}

  // The same logger with another name, for a component.
  Logger named(std::string name) const;
  // The same logger whose every record also carries `fields`.
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

// Writes to standard output. JSON has the keys level, time, logger, message and the fields, as
// Karpenter's logs do. `now` gives the time stamped on each record.
std::shared_ptr<LogSink> stdout_sink(LogLevel level, LogFormat format,
                                     std::function<TimePoint()> now);

}  // namespace millwright::base
