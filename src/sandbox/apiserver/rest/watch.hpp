// Watch streams: what exists, then every change that passes the filter, with bookmarks, until the
// requested timeout. Loop thread only.
#pragma once

#include "millwright/net/server.hpp"
#include "sandbox/apiserver/rest/request.hpp"
#include "sandbox/apiserver/store/registry.hpp"
#include "sandbox/apiserver/store/selectors.hpp"

#include <deque>
#include <map>
#include <memory>

namespace millwright::sandbox {

class WatchHub {
 public:
  WatchHub(base::Loop& loop, Store& store, std::uint64_t seed, base::Duration bookmark_interval);
  ~WatchHub();

  void set_faults(const Faults& faults) { faults_ = faults; }
  void open(const RestRequest& request, ObjectFilter filter,
            std::shared_ptr<net::Exchange> exchange);
  // As when the server restarts.
  void close_all();

 private:
  struct Session;
  void on_event(const ResourceInfo& info, const Event& event);
  void send_initial(Session& session, const RestRequest& request);
  // False: the stream was cut.
  bool deliver(Session& session, const Event& event);
  void push(Session& session, std::string line);
  void push_bookmark(Session& session, bool initial_end);
  void schedule_bookmark(std::uint64_t id);
  void close(std::uint64_t id, bool finish);

  base::Loop& loop_;
  Store& store_;
  base::Random random_;
  base::Duration bookmark_interval_;
  Faults faults_;
  std::uint64_t next_id_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Session>> sessions_;
  std::shared_ptr<void> observer_;
  // Outlives the hub in callbacks from I/O threads.
  std::shared_ptr<WatchHub*> self_;
};

}  // namespace millwright::sandbox
