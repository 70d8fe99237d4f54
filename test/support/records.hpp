// Keeps every log record as text, to be searched for secrets and shown when something failed.
#pragma once

#include "millwright/base/log.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace millwright::test {

// For any thread.
class Records final : public base::LogSink {
 public:
  bool enabled(base::LogLevel /*level*/) const override { return true; }
  void write(base::LogLevel /*level*/, std::string_view logger, std::string_view message,
             const std::vector<base::LogField>& fields) override {
    const std::scoped_lock lock(mutex_);
    text_.append(logger).append(" ").append(message);
    for (const auto& [key, value] : fields) {
      text_.append(" ").append(key).append("=").append(value);
    }
    text_ += '\n';
  }
  std::string text() const {
    const std::scoped_lock lock(mutex_);
    return text_;
  }
  // The last `size` characters or so.
  std::string tail(std::size_t size = 6'000) const {
    const auto all = text();
    return all.size() <= size ? all : "..." + all.substr(all.size() - size);
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

}  // namespace millwright::test
