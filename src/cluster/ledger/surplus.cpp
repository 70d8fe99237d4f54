#include "cluster/ledger/surplus.hpp"

#include "millwright/base/mutant.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace millwright::cluster {
namespace {

// Its pods have been there, or others took the room.
bool is_probably_used(const scheduling::Reservation& reservation,
                      const scheduling::NodeRecord& record) {
  model::ResourceList room = record.allocatable();
  model::subtract_from(room, record.pod_requests);
  return !model::fits(reservation.requests, room) ||
         std::any_of(record.pods.begin(), record.pods.end(), [&](const scheduling::PodPtr& pod) {
           const model::OwnerReference* const owner = pod->meta.controller();
           return owner != nullptr && owner->uid == reservation.group.owner_uid() &&
                  scheduling::group_of(*pod) == reservation.group;
         });
}

// The higher, the more a reservation there would be missed:
// 0. Nobody can use it: its node is going. Or nobody is likely to: an earlier process wrote it, the
//    node is up since, and pods of the group are there or the room is not. How many came and went
//    before this process began, nobody knows; to free room on a claim that is still starting in its
//    place would leave the pods that the claim was bought for with nothing.
// 1. The claim may still be cancelled: the cloud has not been asked, or has not answered.
// 2. Its instance is paid for, but will be up only later.
// 3. Its node is there and becomes ready.
// 4. Its node is up: the pod can run at once.
// 5. A pod of the group is on its way there.
int worth_of(const scheduling::Reservation& reservation, const scheduling::NodeRecord* record) {
  if (record == nullptr) {
    return 1;
  }
  if (record->marked_for_deletion || record->fenced) {
    return 0;
  }
  if (record->node == nullptr) {
    return model::is_true(record->claim->conditions, model::kLaunched) ? 2 : 1;
  }
  if (!record->initialized()) {
    return 3;
  }
  return reservation.inherited && is_probably_used(reservation, *record) ? 0 : 4;
}

constexpr int kExpected = 5;

struct Place {
  int worth = 0;
  std::int32_t all = 0;  // reserved there for anybody: little of it may become nothing
  std::string target;
  std::int32_t count = 0;
};

class SurplusSearch {
 public:
  explicit SurplusSearch(const SurplusQuestion& question) : question_(question) {
    for (const Ledger::Arrival& arrival : question.arrivals) {
      note_use(arrival);
    }
  }

  void look_at(const scheduling::GroupId& group) {
    if (group.is_whole_owner() || question_.ledger.targets_of(group).empty()) {
      return;
    }
    const auto* const demand = scheduling::find_demand(question_.snapshot.demand, group);
    std::int32_t surplus = -(demand == nullptr ? 0 : demand->most_reserved());
    for (const std::string& target : question_.ledger.targets_of(group)) {
      surplus += left(*question_.ledger.find(group, target));
    }
    if (surplus <= 0) {
      return;
    }
    for (Place& place : places_of(group)) {
      const std::int32_t freed = std::min(surplus, place.count);
      if (freed > 0) {
        found_.push_back({.group = group, .target = std::move(place.target), .by = freed});
        surplus -= freed;
      }
    }
  }
  std::vector<Lowering> take() { return std::move(found_); }

 private:
  // As the ledger will settle it.
  void note_use(const Ledger::Arrival& arrival) {
    const auto* const own = question_.ledger.find(arrival.group, arrival.node);
    if (!arrival.node.empty() && own != nullptr && left(*own) > 0) {
      ++used_[{own->group.text(), own->target}];
    }
  }

  std::int32_t left(const scheduling::Reservation& reservation) const {
    const auto used = used_.find({reservation.group.text(), reservation.target});
    return reservation.count - (used == used_.end() ? 0 : used->second);
  }

  const scheduling::NodeRecord* find_record(std::string_view target) {
    if (records_.empty()) {
      for (const auto& record : question_.snapshot.nodes) {
        records_.emplace(record->name(), record.get());
        records_.emplace(record->claim_name(), record.get());
      }
    }
    const auto found = records_.find(target);
    return found == records_.end() ? nullptr : found->second;
  }

  // Pods of the group that kube-scheduler is binding there, as far as is known. The snapshot may
  // show some of them as gone from those that wait, or not show them yet.
  std::int32_t coming_to(std::string_view target, const scheduling::GroupId& group) {
    if (!passes_) {
      passes_ = question_.attempts.passes(question_.now);
      std::erase_if(*passes_, [this](const PassPtr& pass) {
        return pass->everywhere ||
               std::any_of(question_.arrivals.begin(), question_.arrivals.end(),
                           [&](const auto& arrival) { return arrival.pod_uid == pass->pod_uid; });
      });
    }
    const std::uint64_t hash = Ledger::node_hash(target);
    return static_cast<std::int32_t>(std::count_if(
        passes_->begin(), passes_->end(),
        [&](const PassPtr& pass) { return pass->group == group && pass->may_land_on(hash); }));
  }

  std::vector<Place> places_of(const scheduling::GroupId& group) {
    std::vector<Place> places;
    for (const std::string& target : question_.ledger.targets_of(group)) {
      const ReservationList& list = question_.ledger.by_target.find(target)->second;
      const scheduling::Reservation& own = *list.find(group);
      Place place{.worth = worth_of(own, find_record(target)), .target = target};
      for (const scheduling::Reservation& reservation : list) {
        place.all += left(reservation);
      }
      const std::int32_t expected = std::min(left(own), coming_to(target, group));
      place.count = left(own) - expected;
      places.push_back(place);
      place.worth = std::max(place.worth, kExpected);
      place.count = expected;
      places.push_back(std::move(place));
    }
    std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
      return std::tie(a.worth, a.all, a.target) < std::tie(b.worth, b.all, b.target);
    });
    return places;
  }

  const SurplusQuestion& question_;
  std::map<std::pair<std::string_view, std::string_view>, std::int32_t> used_;
  std::map<std::string_view, const scheduling::NodeRecord*> records_;  // by node and by claim
  std::optional<std::vector<PassPtr>> passes_;  // of pods that have not arrived; when needed
  std::vector<Lowering> found_;
};

// Calls visit(group) for each group that needs less now than before. Both are sorted.
template <class Visit>
void for_each_fallen(const scheduling::Demand& before, const scheduling::Demand& now, Visit visit) {
  auto after = now.begin();
  for (const scheduling::GroupDemand& each : before) {
    while (after != now.end() && after->group < each.group) {
      ++after;
    }
    const bool is_there = after != now.end() && after->group == each.group;
    if ((is_there ? after->most_reserved() : 0) < each.most_reserved()) {
      visit(each.group);
    }
  }
}

}  // namespace

std::vector<Lowering> find_surplus(const SurplusQuestion& question) {
  SurplusSearch search(question);
  if (base::planted(base::Mutant::SurplusKept)) {
    return {};
  }
  if (question.before != nullptr) {
    for_each_fallen(*question.before, question.snapshot.demand,
                    [&](const scheduling::GroupId& group) { search.look_at(group); });
  } else {
    for (const auto& [text, targets] : question.ledger.targets_by_group) {
      search.look_at(scheduling::GroupId(text));
    }
  }
  return search.take();
}

}  // namespace millwright::cluster
