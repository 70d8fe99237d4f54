#include "cloud/alibaba/launch/join_scripts.hpp"

#include <utility>

namespace millwright::cloud::alibaba {
namespace {

// CloudPilot's provider keeps a script for six hours; its token lives for a day.
constexpr base::Duration kScriptKept = std::chrono::hours(6);

}  // namespace

base::Task<base::Result<std::string>> JoinScripts::get(AttachQuestion question) {
  auto& script = scripts_[question.arch + (question.format_disk ? "/format" : "")];
  if (!script.text.empty() && loop_.now() < script.until) {
    co_return script.text;
  }
  if (script.asking) {
    const base::Promise<base::Result<std::string>> told(loop_);
    script.waiting.push_back(told);
    co_return co_await told.get();
  }
  script.asking = true;
  auto answered = co_await cs_.attach_script(std::move(question));
  script.asking = false;
  base::Result<std::string> result;
  if (answered) {
    script.text = *answered;
    script.until = loop_.now() + kScriptKept;
    result = *std::move(answered);
  } else {
    const base::Error error = std::move(answered).error();
    result = tl::unexpected(error);
  }
  for (const auto& waiting : std::exchange(script.waiting, {})) {
    waiting.set(result);
  }
  co_return result;
}

}  // namespace millwright::cloud::alibaba
