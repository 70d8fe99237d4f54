// The lists and watches that decisions wait for: whether each has delivered its first list, and
// whether it has been heard of lately. A replica that is cut off would otherwise go on refusing
// nodes, and removing them, by what was true once. Loop thread only.
#pragma once

#include "millwright/base/log.hpp"
#include "millwright/base/task.hpp"
#include "millwright/cluster/state.hpp"

#include <cstdint>
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

  Sources(base::Loop& loop, cluster::State& state, base::Logger log)
      : loop_(loop), state_(state), log_(std::move(log)), heard_again_(loop) {}

  // Whether every installation may read it, or decisions are possible without.
  enum class Need : std::uint8_t { Always, IfListable };

  // One more to wait for; its number. Add all before any is listed.
  std::size_t add(std::string name, Need need = Need::IfListable);
  void listed(std::size_t source);
  // It cannot be had, and decisions are possible without, until it is heard of.
  void done_without(std::size_t source);
  // The API server let us read it.
  void permitted(std::size_t source);
  // The API server says that we may not read it. An authorizer that fails says so of everything, so
  // one that can be done without is once it is known that those may be read that every installation
  // may read.
  void refused(std::size_t source);
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
    Need need = Need::IfListable;
    bool awaited = true;  // its first list
    bool matters = true;
    bool lost = false;
    bool was_heard = false;  // ever
    base::TimePoint heard;
    // While it is refused: permissions_ when that began.
    std::optional<std::uint64_t> refused_at;
  };
  void tell_synced();
  bool are_needed_ones_there() const;
  bool is_needed_one_refused() const;
  const Source* stale_one() const;
  bool is_any_lost() const;

  base::Loop& loop_;
  cluster::State& state_;
  base::Logger log_;
  std::vector<Source> sources_;
  std::uint64_t permissions_ = 0;  // how often one was let through that every installation may read
  base::Signal heard_again_;
  bool synced_ = false;
  bool fresh_ = true;
};

}  // namespace millwright::controllers
