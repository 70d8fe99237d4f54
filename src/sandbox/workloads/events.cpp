#include "sandbox/workloads/events.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

namespace millwright::sandbox {

namespace {

constexpr std::size_t kKept = 4'000;

}  // namespace

void EventWriter::write(const Json& about, std::string_view component, std::string_view type,
                        std::string_view reason, std::string_view message) {
  const auto& info = info_of(model::kEventResource);
  const auto now = base::format_rfc3339(loop_.now());
  auto identity = fmt::format("{}|{}|{}", text(about, "metadata.uid"), reason, message);
  if (const auto known = known_.find(identity); known != known_.end()) {
    if (const auto current = registry_.store().find(info, known->second)) {
      Json changed = *current;
      make(changed, "count") = integer(changed, "count", 1) + 1;
      make(changed, "lastTimestamp") = now;
      static_cast<void>(registry_.update(info, current, std::move(changed), Part::Main));
      return;
    }
  }
  const auto own_namespace = text(about, "metadata.namespace");
  const auto ns = own_namespace.empty() ? std::string_view("default") : own_namespace;
  const auto name = fmt::format("{}.{:016x}", text(about, "metadata.name"), ++count_);
  boost::json::object involved{{"kind", text(about, "kind")},
                               {"apiVersion", text(about, "apiVersion")},
                               {"name", text(about, "metadata.name")},
                               {"uid", text(about, "metadata.uid")}};
  if (!own_namespace.empty()) {
    involved["namespace"] = own_namespace;
  }
  boost::json::object event{{"metadata", boost::json::object{{"name", name}, {"namespace", ns}}},
                            {"involvedObject", std::move(involved)},
                            {"reason", reason},
                            {"message", message.substr(0, 1024)},
                            {"source", boost::json::object{{"component", component}}},
                            {"reportingComponent", component},
                            {"reportingInstance", ""},
                            {"firstTimestamp", now},
                            {"lastTimestamp", now},
                            {"count", 1},
                            {"type", type}};
  static_cast<void>(registry_.create(info, std::move(event), ns));
  order_.push_back(identity);
  known_[std::move(identity)] = {std::string(ns), name};
  if (order_.size() > kKept) {
    if (const auto oldest = known_.find(order_.front()); oldest != known_.end()) {
      static_cast<void>(registry_.remove(info, oldest->second, {}));
      known_.erase(oldest);
    }
    order_.pop_front();
  }
}

}  // namespace millwright::sandbox
