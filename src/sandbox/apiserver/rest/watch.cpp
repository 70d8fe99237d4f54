#include "sandbox/apiserver/rest/watch.hpp"

#include "sandbox/apiserver/showing/render.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace millwright::sandbox {

struct WatchHub::Session {
  std::uint64_t id = 0;
  const ResourceInfo* info = nullptr;
  ObjectFilter filter;
  RenderOptions render;
  std::uint64_t from = 0;  // what happened up to this version is known
  bool bookmarks = false;
  bool first_table = true;
  std::shared_ptr<net::Exchange> exchange;
  base::TimerId end_timer = 0;
  base::TimerId bookmark_timer = 0;
  // With delayed events: what waits for its time, oldest first.
  base::TimePoint last_due = base::TimePoint::min();  // of a line that is late
};

namespace {

std::string line_of(std::string_view type, const Json& object) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, to_text(object));
}

std::uint64_t parse_version(std::string_view digits) {
  std::uint64_t version = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), version);
  return version;
}

}  // namespace

WatchHub::WatchHub(base::Loop& loop, Store& store, std::uint64_t seed,
                   base::Duration bookmark_interval)
    : loop_(loop),
      store_(store),
      random_(seed),
      bookmark_interval_(bookmark_interval),
      self_(std::make_shared<WatchHub*>(this)) {
  observer_ = store_.observe(
      [this](const ResourceInfo& info, const Event& event) { on_event(info, event); });
}

WatchHub::~WatchHub() {
  *self_ = nullptr;
  close_all();
}

void WatchHub::close_all() {
  while (!sessions_.empty()) {
    close(sessions_.begin()->first, true);
  }
}

void WatchHub::open(const RestRequest& request, ObjectFilter filter,
                    std::shared_ptr<net::Exchange> exchange) {
  auto session = std::make_unique<Session>();
  const auto id = ++next_id_;
  session->id = id;
  session->info = request.info;
  session->filter = std::move(filter);
  session->render = RenderOptions{request.form, request.parameter("includeObject"), loop_.now()};
  session->bookmarks = request.flag("allowWatchBookmarks");
  session->exchange = exchange;
  net::Headers headers;
  headers.set("Content-Type", "application/json");
  exchange->start(200, std::move(headers));
  auto& opened = *session;
  sessions_.emplace(id, std::move(session));
  // The peer's end is noticed on an I/O thread; the session dies on the loop.
  exchange->on_close([self = std::weak_ptr(self_), loop = &loop_, id] {
    loop->post([self, id] {
      if (const auto hub = self.lock(); hub != nullptr && *hub != nullptr) {
        (*hub)->close(id, false);
      }
    });
  });
  std::int64_t timeout = 0;
  const auto given = request.parameter("timeoutSeconds");
  std::from_chars(given.data(), given.data() + given.size(), timeout);
  if (timeout > 0) {
    opened.end_timer = loop_.after(std::chrono::seconds(timeout), [this, id] {
      const auto found = sessions_.find(id);
      if (found != sessions_.end() && found->second->bookmarks) {
        push_bookmark(*found->second, false);
      }
      close(id, true);
    });
  }
  if (opened.bookmarks) {
    schedule_bookmark(id);
  }
  send_initial(opened, request);
}

void WatchHub::send_initial(Session& session, const RestRequest& request) {
  const auto id = session.id;
  const auto given = request.parameter("resourceVersion");
  const auto from = parse_version(given);
  const bool wants_state = request.flag("sendInitialEvents");
  if (from == 0 || wants_state) {
    for (const auto& [key, object] : store_.objects(*session.info)) {
      const Event event{Change::Added, object, nullptr, version_of(*object), loop_.now()};
      if (!deliver(session, event)) {
        return;
      }
    }
    if (wants_state && session.bookmarks) {
      push_bookmark(session, true);
    }
    return;
  }
  session.from = from;
  bool open = true;
  const bool kept = store_.since(
      *session.info, from, [&](const Event& event) { open = open && deliver(session, event); });
  if (!kept) {
    push(session,
         line_of("ERROR", to_status(expired(fmt::format("too old resource version: {} ({})", from,
                                                        store_.compacted(*session.info)))
                                        .value())));
    close(id, true);
  }
}

void WatchHub::on_event(const ResourceInfo& info, const Event& event) {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, session] : sessions_) {
    // After a restore, a version may be known that is still to come.
    if (session->info == &info && event.version > session->from) {
      ids.push_back(id);
    }
  }
  for (const auto id : ids) {
    if (const auto found = sessions_.find(id); found != sessions_.end()) {
      deliver(*found->second, event);
    }
  }
}

bool WatchHub::deliver(Session& session, const Event& event) {
  // A change of labels can bring an object into a filtered watch, or take it out.
  const bool before = event.previous != nullptr && session.filter.matches(*event.previous);
  const bool after = event.change != Change::Deleted && session.filter.matches(*event.object);
  if (!before && !after) {
    return true;
  }
  const auto* type = before && after ? "MODIFIED" : after ? "ADDED" : "DELETED";
  if (faults_.watch_cut_rate > 0 && random_.unit() < faults_.watch_cut_rate) {
    close(session.id, true);
    return false;
  }
  session.render.now = loop_.now();
  session.render.without_columns = !session.first_table;
  session.first_table = false;
  push(session, line_of(type, render_object(*session.info, *event.object, session.render)));
  return true;
}

void WatchHub::push(Session& session, std::string line) {
  const auto most = std::max<std::int64_t>(faults_.watch_delay.count(), 0);
  const base::Duration late(
      most == 0 ? 0 : static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most))));
  // None overtakes those before it, not even when events are late no more.
  if (late == base::Duration::zero() && session.last_due < loop_.now()) {
    session.exchange->write(std::move(line));
    return;
  }
  session.last_due = std::max(session.last_due, loop_.now() + late);
  loop_.at(session.last_due, [exchange = session.exchange, text = std::move(line)]() mutable {
    exchange->write(std::move(text));
  });
}

void WatchHub::push_bookmark(Session& session, bool initial_end) {
  boost::json::object meta{{"resourceVersion", std::to_string(store_.version())},
                           {"creationTimestamp", nullptr}};
  if (initial_end) {
    meta["annotations"] = boost::json::object{{"k8s.io/initial-events-end", "true"}};
  }
  const boost::json::object object{{"kind", session.info->resource.kind},
                                   {"apiVersion", session.info->resource.api_version()},
                                   {"metadata", std::move(meta)}};
  push(session, line_of("BOOKMARK", object));
}

void WatchHub::schedule_bookmark(std::uint64_t id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) {
    return;
  }
  found->second->bookmark_timer = loop_.after(bookmark_interval_, [this, id] {
    const auto session = sessions_.find(id);
    if (session != sessions_.end()) {
      push_bookmark(*session->second, false);
      schedule_bookmark(id);
    }
  });
}

void WatchHub::close(std::uint64_t id, bool finish) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) {
    return;
  }
  const auto session = std::move(found->second);
  sessions_.erase(found);
  loop_.cancel(session->end_timer);
  loop_.cancel(session->bookmark_timer);
  if (!finish) {
    return;
  }
  if (session->last_due >= loop_.now()) {
    loop_.at(session->last_due, [exchange = session->exchange] { exchange->finish(); });
  } else {
    session->exchange->finish();
  }
}

}  // namespace millwright::sandbox
