#include "app/engine/unseen_refusals.hpp"

#include "millwright/scheduling/solve.hpp"

#include <iterator>
#include <utility>

namespace millwright::app {

void UnseenRefusals::put(extender::RefusedPod refused, base::TimePoint now) {
  if (by_uid_.size() < kMost || by_uid_.contains(refused.pod.uid)) {
    std::string uid = refused.pod.uid;
    by_uid_.insert_or_assign(std::move(uid),
                             Waiting{.refused = std::move(refused), .until = now + kKept});
  }
}

std::vector<extender::RefusedPod> UnseenRefusals::take(const scheduling::Snapshot& snapshot,
                                                       base::TimePoint now) {
  std::vector<extender::RefusedPod> taken;
  for (auto each = by_uid_.begin(); each != by_uid_.end();) {
    extender::RefusedPod& refused = each->second.refused;
    const model::Pod* const pod =
        extender::find_waiting(snapshot, refused.pod.key, refused.pod.uid);
    if (pod != nullptr) {
      refused.pod.group = scheduling::group_of(*pod);
      refused.pod.requests = scheduling::effective_requests(*pod);
      refused.pod.priority = pod->spec.priority;
      refused.pod.shown = extender::Shown::Waiting;
      refused.not_offered.clear();  // they are another group's, if the caller made one up
      taken.push_back(std::move(refused));
    }
    const bool is_done = pod != nullptr || each->second.until <= now;
    each = is_done ? by_uid_.erase(each) : std::next(each);
  }
  return taken;
}

}  // namespace millwright::app
