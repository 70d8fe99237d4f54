// The only file that sees spdlog, which gives the locked, flushed standard output.
#include "millwright/base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <cstdio>

namespace millwright::base {
namespace {

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return "DEBUG";
    case LogLevel::Info:
      return "INFO";
    case LogLevel::Warn:
      return "WARN";
    case LogLevel::Error:
      return "ERROR";
  }
  return "ERROR";
}

// ISO 8601 with milliseconds, as Karpenter's logs have.
std::string log_time(TimePoint time) {
  std::string text = format_rfc3339_micro(time);
  text.resize(text.size() - 4);
  return text + "Z";
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20) {
      std::array<char, 8> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\u%04x", static_cast<unsigned>(byte));
      out += escaped.data();
    } else {
      out += c;
    }
  }
  out += '"';
}

bool needs_quotes(std::string_view text) {
  if (text.empty()) {
    return true;
  }
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '=' || c == '\\') {
      return true;
    }
  }
  return false;
}

// Says which object: {"name":"a","namespace":"b"}.
void append_object(std::string& out, std::string_view value) {
  const auto slash = value.find('/');
  out += "{\"name\":";
  append_quoted(out, slash == std::string_view::npos ? value : value.substr(slash + 1));
  if (slash != std::string_view::npos) {
    out += ",\"namespace\":";
    append_quoted(out, value.substr(0, slash));
  }
  out += '}';
}

bool names_object(std::string_view key) {
  return !key.empty() && key.front() >= 'A' && key.front() <= 'Z' && key != "Pods";
}

bool is_for_tools(std::string_view key) {
  return key == "commit" || key == "controller" || key == "namespace" || key == "name" ||
         key == "reconcileID" || key == "command-id";
}

class StdoutSink final : public LogSink {
 public:
  StdoutSink(LogLevel level, LogFormat format, std::function<TimePoint()> now)
      : level_(level),
        format_(format),
        now_(std::move(now)),
        out_("millwright", std::make_shared<spdlog::sinks::stdout_sink_mt>()) {
    out_.set_pattern("%v");
    // A line lost in a buffer when the process dies is the line that was needed.
    out_.flush_on(spdlog::level::info);
  }

  bool enabled(LogLevel level) const override { return level >= level_; }
  void write(LogLevel level, std::string_view logger, std::string_view message,
             const std::vector<LogField>& fields) override {
    const std::string time = log_time(now_());
    const std::string line = format_ == LogFormat::Json
                                 ? json_line(time, level, logger, message, fields)
                                 : text_line(time, level, logger, message, fields);
    out_.log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
  }

 private:
  LogLevel level_;
  LogFormat format_;
  std::function<TimePoint()> now_;
  spdlog::logger out_;
};

// A later field of the same name replaces the earlier one.
void merge_into(std::vector<LogField>& fields, std::initializer_list<LogField> more) {
  for (const LogField& field : more) {
    bool replaced = false;
    for (LogField& existing : fields) {
      if (existing.first == field.first) {
        existing.second = field.second;
        replaced = true;
      }
    }
    if (!replaced) {
      fields.push_back(field);
    }
  }
}

}  // namespace

std::string json_line(std::string_view time, LogLevel level, std::string_view logger,
                      std::string_view message, const std::vector<LogField>& fields) {
  std::string line = "{\"level\":\"";
  line.append(level_name(level)).append("\",\"time\":\"").append(time).append("\"");
  if (!logger.empty()) {
    line += ",\"logger\":";
    append_quoted(line, logger);
  }
  line += ",\"message\":";
  append_quoted(line, message);
  for (const auto& [key, value] : fields) {
    line += ',';
    append_quoted(line, key);
    line += ':';
    if (names_object(key)) {
      append_object(line, value);
    } else {
      append_quoted(line, value);
    }
  }
  return line + "}";
}

std::string text_line(std::string_view time, LogLevel level, std::string_view logger,
                      std::string_view message, const std::vector<LogField>& fields) {
  std::string line(time);
  line.append(" ").append(level_name(level));
  line.append(level_name(level).size() < 5 ? "  " : " ");
  if (!logger.empty()) {
    line.append(logger);
    for (const auto& [key, value] : fields) {
      if (key == "controller") {
        line.append(".").append(value);
      }
    }
    line.append(": ");
  }
  // One record is one line, whatever the message holds.
  for (const char c : message) {
    line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  for (const auto& [key, value] : fields) {
    if (is_for_tools(key)) {
      continue;
    }
    line.append(" ").append(key).append("=");
    if (needs_quotes(value)) {
      append_quoted(line, value);
    } else {
      line += value;
    }
  }
  return line;
}

Logger Logger::named(std::string name) const {
  Logger copy = *this;
  copy.name_ = std::move(name);
  return copy;
}

Logger Logger::with(std::initializer_list<LogField> fields) const {
  Logger copy = *this;
  merge_into(copy.fields_, fields);
  return copy;
}

void Logger::debug(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::Debug, message, fields);
}
void Logger::info(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::Info, message, fields);
}
void Logger::warn(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::Warn, message, fields);
}
void Logger::error(std::string_view message, std::initializer_list<LogField> fields) const {
  write(LogLevel::Error, message, fields);
}

void Logger::write(LogLevel level, std::string_view message,
                   std::initializer_list<LogField> fields) const {
  if (!sink_ || !sink_->enabled(level)) {
    return;
  }
  std::vector<LogField> all = fields_;
  merge_into(all, fields);
  sink_->write(level, name_, message, all);
}

std::shared_ptr<LogSink> stdout_sink(LogLevel level, LogFormat format,
                                     std::function<TimePoint()> now) {
  return std::make_shared<StdoutSink>(level, format, std::move(now));
}

}  // namespace millwright::base
