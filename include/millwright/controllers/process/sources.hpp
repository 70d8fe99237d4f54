// The lists and watches that decisions wait for: whether each has delivered its first list, and
// whether it has been heard of lately. A replica that is cut off would otherwise go on refusing
// nodes, and removing them, by what was true once. Loop thread only.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/task.hpp"
#include "millwright/cluster/state.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace millwright::controllers {

class Sources {
 public:
  // A watch that failed and has not been heard of for so long is stale.
  static constexpr auto kLostFor = std::chrono::minutes(1);
  // So is one that has only been silent: a server that sends no bookmarks ends it before.
  static constexpr auto kSilentFor = std::chrono::minutes(6);
  // A refusal of one that was read before counts once it is repeated so much later: one of several
  // API servers may refuse for a moment what the others allow.
  static constexpr auto kRefusedFor = std::chrono::seconds(10);

  Sources(base::Loop& loop, cluster::State& state, base::Logger log)
      : loop_(loop), state_(state), log_(std::move(log)), fewer_lost_(loop) {}

  // One more to wait for; its number. Add all before any is listed.
  std::size_t add(std::string name);
  void listed(std::size_t source);
  // It cannot be had, and decisions are possible without, until it is heard of.
  void done_without(std::size_t source);
  // The API server says that we may not read it, though decisions are possible without. Since when,
  // if it is time to find out whether it alone is refused: an authorizer that fails refuses
  // everything.
  std::optional<base::TimePoint> refused(std::size_t source);
  // It alone is refused since then, as far as it was not heard of meanwhile: it is done without.
  void refused_alone(std::size_t source, base::TimePoint since);
  void heard(std::size_t source);
  void lost(std::size_t source);

  // Waits until none that matters is lost, but no longer than one that stays lost takes to be
  // stale. A replica that was cut off begins to act by what has become of the cluster meanwhile.
  base::Task<void> wait_for_all(std::stop_token stop);
  // Tells the state, until `stop`, whether all of them are fresh.
  base::Task<void> watch_over(std::stop_token stop);
  // The same, once.
  void look();

 private:
  struct Source {
    std::string name;
    bool awaited = true;  // its first list
    bool matters = true;
    bool lost = false;
    base::TimePoint heard;
    std::optional<base::TimePoint> refused_since;  // and not heard of since
  };
  void tell_synced();
  const Source* stale_one() const;
  bool is_any_lost() const;

  base::Loop& loop_;
  cluster::State& state_;
  base::Logger log_;
  std::vector<Source> sources_;
  base::Signal fewer_lost_;
  bool synced_ = false;
  bool fresh_ = true;
};

}  // namespace millwright::controllers
