#include "kube/watching/watch_stream.hpp"

#include "kube/calls/json.hpp"

#include <utility>

namespace millwright::kube {
namespace {

// A buffer that one huge object grew is given back.
constexpr std::size_t kKeptCapacity = 1U << 20;

}  // namespace

bool LineSplitter::feed(std::string_view chunk,
                        const std::function<bool(std::string_view)>& on_line) {
  while (!overflow_ && !chunk.empty()) {
    const auto end = chunk.find('\n');
    const auto piece = chunk.substr(0, end);
    overflow_ = partial_.size() + piece.size() > limit_;
    if (overflow_) {
      std::string().swap(partial_);
      break;
    }
    if (end == std::string_view::npos) {
      partial_.append(piece);
      break;
    }
    chunk.remove_prefix(end + 1);
    bool go_on = true;
    if (partial_.empty()) {
      go_on = piece.empty() || on_line(piece);
    } else {
      partial_.append(piece);
      const std::string line = std::exchange(partial_, {});
      go_on = on_line(line);
      if (line.capacity() <= kKeptCapacity) {
        partial_.reserve(line.capacity());
      }
    }
    if (!go_on) {
      break;
    }
  }
  return !overflow_;
}

base::Result<WatchEvent> parse_watch_event(std::string_view line) {
  MW_TRY(json, model::parse_json(line));
  const auto type = text_at(json, "type");
  WatchEvent event;
  if (type == "ADDED" || type == "MODIFIED") {
    event.type = WatchEventType::Upsert;
  } else if (type == "DELETED") {
    event.type = WatchEventType::Delete;
  } else if (type == "BOOKMARK") {
    event.type = WatchEventType::Bookmark;
  } else if (type != "ERROR") {
    return base::fail(base::ErrorKind::Invalid, "a watch event has no type known here");
  }
  auto* object = json.get_object().if_contains("object");
  if (object == nullptr || !object->is_object()) {
    return base::fail(base::ErrorKind::Invalid, "a watch event has no object");
  }
  event.object = std::move(*object);
  if (event.type == WatchEventType::Error) {
    return event;
  }
  if (text_at(event.object, "metadata.resourceVersion").empty()) {
    return base::fail(base::ErrorKind::Invalid, "a watched object has no resourceVersion");
  }
  if (event.type != WatchEventType::Bookmark && text_at(event.object, "metadata.name").empty()) {
    return base::fail(base::ErrorKind::Invalid, "a watched object has no name");
  }
  return event;
}

}  // namespace millwright::kube
