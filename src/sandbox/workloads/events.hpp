// core/v1 Events of the sandbox's own parts, as kubectl describe shows them: repeated ones are
// counted up, and only the newest few thousand are kept. Loop thread only.
#pragma once

#include "sandbox/apiserver/store/registry.hpp"

#include <deque>
#include <map>
#include <string>
#include <string_view>

namespace millwright::sandbox {

class EventWriter {
 public:
  EventWriter(base::Loop& loop, Registry& registry) : loop_(loop), registry_(registry) {}

  // `type` is Normal or Warning.
  void write(const Json& about, std::string_view component, std::string_view type,
             std::string_view reason, std::string_view message);

 private:
  base::Loop& loop_;
  Registry& registry_;
  std::map<std::string, model::ObjectKey, std::less<>> known_;  // by uid, reason and message
  std::deque<std::string> order_;
  std::uint64_t count_ = 0;
};

}  // namespace millwright::sandbox
