// Makes events of a watch's text: one JSON object per line, in chunks cut anywhere. No I/O.
#pragma once

#include "millwright/base/result.hpp"

#include <boost/json/value.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace millwright::kube {

// Puts lines together from chunks. A line longer than `limit` ends it: feed() is then false for
// good, since what was lost cannot be known.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t limit) : limit_(limit) {}

  // `on_line` gets each complete non-empty line without its end; false from it stops at once.
  // False when the limit was exceeded.
  bool feed(std::string_view chunk, const std::function<bool(std::string_view)>& on_line);

 private:
  std::size_t limit_;
  std::string partial_;
  bool overflow_ = false;
};

enum class WatchEventType { Upsert, Delete, Bookmark, Error };

struct WatchEvent {
  WatchEventType type = WatchEventType::Error;
  boost::json::value object;  // of Error: a metav1.Status
};

base::Result<WatchEvent> parse_watch_event(std::string_view line);

}  // namespace millwright::kube
