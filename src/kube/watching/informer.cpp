// The reflector: list, watch from the list's version, resume where a watch ended, list again when
// the server no longer remembers that version. Follows the "efficient detection of changes"
// section of the Kubernetes API concepts page.
#include "millwright/kube/informer.hpp"

#include "kube/calls/client_state.hpp"
#include "kube/calls/json.hpp"
#include "kube/calls/known_objects.hpp"
#include "kube/calls/pacing.hpp"
#include "kube/calls/status.hpp"
#include "kube/watching/watch_stream.hpp"
#include "millwright/net/http.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace millwright::kube {
namespace {

using base::ErrorKind;

// Objects are at most a few MiB in etcd; anything longer is no watch event.
constexpr std::size_t kMaxLine = 32U << 20;
// How much longer than asked a watch may last before the connection counts as dead.
constexpr std::chrono::seconds kWatchGrace{30};
// A watch that lived so long was healthy, whatever ended it.
constexpr std::chrono::seconds kHealthyWatch{30};
// Servers send a bookmark about once a minute. One that is silent for longer may have lost the
// connection, or wait for a version that etcd, restored from a backup, will reach in days.
constexpr std::chrono::seconds kWordlessWatch{120};
// One that ended sooner without a single event would be resumed in a tight loop.
constexpr std::chrono::seconds kShortWatch{1};
// How long a watch must have been accepted before it counts as heard. A server says first that it
// accepts a version, then that it has forgotten it, or what has happened since.
constexpr std::chrono::seconds kCatchUp{1};

// What to do after a watch.
enum class Next { Resume, ResumeLater, Relist };

struct WatchEnd {
  Next next = Next::Resume;
  base::Error error;  // unless Resume
};

// One watch in progress: what its chunks did. Shared with the transport's callback through a weak
// pointer, since the informer may be gone when a late chunk comes.
class WatchSession : public std::enable_shared_from_this<WatchSession> {
 public:
  WatchSession(base::Loop& loop, KnownObjects& known, const model::Resource& resource,
               std::string& version, Deadline& deadline)
      : loop_(loop), known_(known), resource_(resource), version_(version), deadline_(deadline) {}

  void feed(std::string_view chunk) {
    if (end_) {
      return;
    }
    if (chunk.empty()) {
      // The API server goes on from our version, though nothing has happened since: the first
      // event may come with the next bookmark, a minute later.
      hear();
      return;
    }
    const bool fits = lines_.feed(chunk, [this](std::string_view line) { return take(line); });
    if (!fits) {
      finish(Next::Relist, {ErrorKind::Unavailable, "a watch event is longer than 32 MiB"});
    }
  }
  bool has_progress() const { return progress_; }
  // Set when what was received ended the watch.
  std::optional<WatchEnd> take_end() { return std::move(end_); }

 private:
  bool take(std::string_view line) {
    auto event = parse_watch_event(line);
    if (!event) {
      // What it said is lost: only a list can tell.
      finish(Next::Relist,
             {ErrorKind::Unavailable, "cannot read a watch event: " + event.error().message});
      return false;
    }
    if (event->type == WatchEventType::Error) {
      auto error = read_status(event->object, "watch").error;
      const auto next = error.kind == ErrorKind::Throttled ? Next::ResumeLater : Next::Relist;
      finish(next, std::move(error));
      return false;
    }
    const auto version = text_at(event->object, "metadata.resourceVersion");
    if (event->type == WatchEventType::Bookmark && model::is_lower_version(version, version_)) {
      finish(Next::Relist, {ErrorKind::Unavailable, "a bookmark is older than what was heard"});
      return false;
    }
    progress_ = true;
    hear();
    version_ = version;
    if (event->type == WatchEventType::Upsert) {
      fill_type(event->object.get_object(), resource_);
      known_.upsert(event->object);
    } else if (event->type == WatchEventType::Delete) {
      known_.remove(event->object);
    }
    return true;
  }
  void hear() {
    if (caught_up_) {
      known_.report_heard();
    } else if (!std::exchange(accepted_, true)) {
      loop_.after(kCatchUp, [weak = weak_from_this()] {
        if (const auto alive = weak.lock()) {
          alive->catch_up();
        }
      });
    }
  }
  void catch_up() {
    caught_up_ = true;
    if (!end_) {
      known_.report_heard();
    }
  }
  void finish(Next next, base::Error error) {
    end_ = WatchEnd{.next = next, .error = std::move(error)};
    deadline_.stop();
  }

  base::Loop& loop_;
  KnownObjects& known_;
  const model::Resource& resource_;
  std::string& version_;
  Deadline& deadline_;
  LineSplitter lines_{kMaxLine};
  bool accepted_ = false;
  bool caught_up_ = false;
  bool progress_ = false;
  std::optional<WatchEnd> end_;
};

class Informer {
 public:
  Informer(Client& client, InformerOptions options, InformerHandlers handlers)
      : client_(client),
        resource_(options.resource),
        options_(std::move(options)),
        known_(std::move(handlers)),
        log_(options_.log),
        random_(options_.seed),
        backoff_(options_.min_backoff, options_.max_backoff) {}

  base::Task<void> run(std::stop_token stop) {
    while (!stop.stop_requested()) {
      if (version_.empty()) {
        const auto listed = co_await list(stop);
        if (!listed) {
          if (is_refusal(listed.error()) || listed.error().kind == ErrorKind::Unauthorized) {
            known_.report_not_listable(listed.error());
          }
          co_await pause("list", listed.error(), stop);
          continue;
        }
      } else if (interrupted_) {
        const auto confirmed = co_await confirm_history(stop);
        if (!confirmed && !is_refusal(confirmed.error())) {
          co_await pause("list", confirmed.error(), stop);
          continue;
        }
        interrupted_ = false;
        if (version_.empty()) {
          continue;
        }
      }
      const auto end = co_await watch(stop);
      if (stop.stop_requested()) {
        break;
      }
      if (end.next == Next::Relist) {
        newest_ = std::exchange(version_, {});
      }
      // A server that answers, even that it has too much to do, was there all the time.
      interrupted_ = end.next == Next::ResumeLater && end.error.kind != ErrorKind::Throttled;
      if (end.next != Next::Resume) {
        co_await pause("watch", end.error, stop);
      }
    }
  }

 private:
  // The right to list is missing, or the resource itself. A watch says so, too. Whoever is not
  // known to the server (Unauthorized) was refused no right.
  static bool is_refusal(const base::Error& error) {
    return error.kind == ErrorKind::Denied || error.kind == ErrorKind::NotFound;
  }

  // The most recent state, in pages. resourceVersion=0 could go back in time, would come in one
  // piece whatever the page size is, and with a least version a restored etcd could not be told.
  base::Task<base::Result<>> list(std::stop_token stop) {
    ListOptions options;
    options.namespace_ = options_.namespace_;
    options.label_selector = options_.label_selector;
    options.field_selector = options_.field_selector;
    const std::function<void(ListPage)> on_page = [this](const ListPage& page) { take_page(page); };
    auto version = co_await client_.list_pages(resource_, std::move(options), on_page, stop);
    MW_CO_CHECK(version);
    if (version->empty()) {
      co_return base::fail(ErrorKind::Unavailable, "the list has no resourceVersion");
    }
    version_ = *std::move(version);
    known_.end_list();
    known_.report_heard();
    if (model::is_lower_version(version_, newest_)) {
      tell_rewound(newest_, version_);
    }
    if (!std::exchange(synced_, true)) {
      known_.report_synced();
    }
    co_return base::Result<>();
  }

  // A server that was away may have come back with an etcd that was restored from a backup. It
  // accepts watches from versions of the lost history, and says nothing about it.
  base::Task<base::Result<>> confirm_history(std::stop_token stop) {
    MW_CO_TRY(current, co_await client_.current_version(resource_, options_.namespace_, stop));
    if (model::is_lower_version(current, version_)) {
      tell_rewound(version_, current);
      version_.clear();
      newest_.clear();
    }
    co_return base::Result<>();
  }

  void tell_rewound(const std::string& before, const std::string& now) {
    if (std::exchange(rewound_, true)) {
      return;
    }
    log_.error("the API server's history was rewound",
               {{"resource", plural()}, {"version-before", before}, {"version-now", now}});
    known_.report_rewound();
  }

  void take_page(const ListPage& page) {
    if (page.first) {
      known_.begin_list();
    }
    for (const auto& object : page.items) {
      if (text_at(object, "metadata.name").empty()) {
        log_.warn("ignoring a listed object without a name", {{"resource", plural()}});
        continue;
      }
      // The list's own version tells nothing once a restored history has passed the lost one. An
      // object does that was changed in the lost one alone: no list is older than what was heard
      // before, as long as there is one history.
      if (const auto newer = known_.newer_version(object)) {
        tell_rewound(*newer, std::string(text_at(object, "metadata.resourceVersion")));
      }
      known_.upsert(object);
    }
  }

  base::Task<WatchEnd> watch(std::stop_token stop) {
    auto& loop = client_.loop();
    const auto begun = loop.now();
    Deadline deadline(loop, stop, options_.watch_timeout + kWatchGrace);
    const auto session =
        std::make_shared<WatchSession>(loop, known_, resource_, version_, deadline);
    const std::function<void(std::string_view)> on_chunk =
        [weak = std::weak_ptr(session)](std::string_view chunk) {
          if (const auto alive = weak.lock()) {
            alive->feed(chunk);
          }
        };
    auto request = watch_request();
    const auto answer =
        co_await client_.transport().stream(std::move(request), on_chunk, deadline.token());
    const auto lasted = loop.now() - begun;
    if (session->has_progress() || lasted >= kHealthyWatch) {
      backoff_.reset();
      gone_ = false;
    }
    if (auto end = session->take_end()) {
      co_return *std::move(end);
    }
    if (answer && answer->status == 200) {
      known_.report_heard();
    }
    if (answer && answer->status == 200 && !session->has_progress() && lasted < kShortWatch) {
      co_return WatchEnd{Next::ResumeLater,
                         {ErrorKind::Unavailable, "the watch ended at once without an event"}};
    }
    if (!session->has_progress() && lasted >= kWordlessWatch) {
      co_return WatchEnd{Next::Relist,
                         {ErrorKind::Unavailable, "the watch said nothing, not even a bookmark"}};
    }
    co_return judge(answer, deadline.passed());
  }

  ApiRequest watch_request() const {
    ApiRequest request;
    request.path = path_to(resource_, {.namespace_ = options_.namespace_, .name = {}}) +
                   "?watch=true&allowWatchBookmarks=true" +
                   "&timeoutSeconds=" + std::to_string(options_.watch_timeout.count()) +
                   "&resourceVersion=" + net::url_encode(version_);
    if (!options_.label_selector.empty()) {
      request.path += "&labelSelector=" + net::url_encode(options_.label_selector);
    }
    if (!options_.field_selector.empty()) {
      request.path += "&fieldSelector=" + net::url_encode(options_.field_selector);
    }
    request.timeout = options_.watch_timeout + kWatchGrace;
    return request;
  }

  static WatchEnd judge(const base::Result<net::Response>& answer, bool overdue) {
    if (!answer) {
      // A connection that went silent is replaced without delay, like one that ended well.
      const bool silent = overdue && answer.error().kind == ErrorKind::Cancelled;
      return {silent ? Next::Resume : Next::ResumeLater, answer.error()};
    }
    if (answer->status == 200) {
      return {};
    }
    auto error = error_of(*answer, "watch");
    switch (error.kind) {
      case ErrorKind::Throttled:
      case ErrorKind::Unavailable:
      case ErrorKind::Unauthorized:
      case ErrorKind::Timeout:
        return {Next::ResumeLater, std::move(error)};
      default:
        return {Next::Relist, std::move(error)};
    }
  }

  base::Task<void> pause(std::string_view step, base::Error error, std::stop_token stop) {
    if (stop.stop_requested()) {
      co_return;
    }
    // What is known may be long past from here on, until a watch goes on or a list is complete.
    known_.report_lost();
    // Forgotten versions are everyday life, and the server that says so is there: the first time
    // nothing needs to be waited for, whatever failed before.
    const bool at_once = error.kind == ErrorKind::Gone && !std::exchange(gone_, true);
    auto delay = backoff_.next(random_);
    if (at_once) {
      log_.info("the watched version is gone, listing again", {{"resource", plural()}});
      co_await base::yield(client_.loop());
      co_return;
    }
    // What the server asks for, but no mistake of its can put us to sleep for a day.
    delay = std::max<base::Duration>(delay, std::min(error.retry_after, options_.max_backoff));
    log_.warn("an informer lost the API server and will try again",
              {{"resource", plural()},
               {"step", std::string(step)},
               {"error", error.message},
               {"retry_in", base::format_human_duration(delay)}});
    co_await base::sleep(client_.loop(), delay, std::move(stop));
  }

  std::string plural() const { return std::string(resource_.plural); }

  Client& client_;
  model::Resource resource_;
  InformerOptions options_;
  KnownObjects known_;
  base::Logger log_;
  base::Random random_;
  Backoff backoff_;
  std::string version_;       // empty: a list is needed
  std::string newest_;        // the version at the end of the last watch that was not resumed
  bool interrupted_ = false;  // since version_ the server could not be reached
  bool gone_ = false;         // said of the version watched last, without a good watch since
  bool synced_ = false;
  bool rewound_ = false;
};

}  // namespace

base::Task<void> run_informer(Client& client, InformerOptions options, InformerHandlers handlers,
                              std::stop_token stop) {
  Informer informer(client, std::move(options), std::move(handlers));
  co_await informer.run(std::move(stop));
}

}  // namespace millwright::kube
