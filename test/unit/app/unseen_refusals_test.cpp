// Refused pods that the watch shows a moment later, and those that it never shows.
#include "app/engine/unseen_refusals.hpp"

#include "millwright/scheduling/solve.hpp"
#include "unit/cluster/objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::app {
namespace {

using testing::at;
using ::testing::IsEmpty;
using testing::PodBuilder;
using ::testing::SizeIs;

extender::RefusedPod refused_pod(const model::Pod& pod) {
  extender::RefusedPod refused;
  refused.pod.uid = pod.meta.uid;
  refused.pod.key = model::key_of(pod.meta);
  refused.pod.priority = 1'000'000;
  refused.not_offered = {"n"};
  return refused;
}

scheduling::Snapshot showing(std::vector<scheduling::PodPtr> pods) {
  scheduling::Snapshot snapshot;
  snapshot.pending_pods = std::move(pods);
  return snapshot;
}

TEST(UnseenRefusals, AreToldOnceTheWatchShowsThePodAndAsItShowsIt) {
  UnseenRefusals refusals;
  const auto pod = PodBuilder("p").requests(300).priority(5).build();
  refusals.put(refused_pod(*pod), at(0));
  EXPECT_THAT(refusals.take(showing({}), at(1)), IsEmpty());
  EXPECT_THAT(refusals.take(showing({PodBuilder("p").uid("another").build()}), at(1)), IsEmpty());
  EXPECT_THAT(refusals.take(showing({PodBuilder("p").gated().build()}), at(1)), IsEmpty());
  const auto told = refusals.take(showing({pod}), at(2));
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].pod.shown, extender::Shown::Waiting);
  EXPECT_EQ(told[0].pod.priority, 5);
  EXPECT_EQ(told[0].pod.group, scheduling::group_of(*pod));
  EXPECT_EQ(told[0].pod.requests, scheduling::effective_requests(*pod));
  EXPECT_THAT(told[0].not_offered, IsEmpty());
  EXPECT_THAT(refusals.take(showing({pod}), at(2)), IsEmpty());
}

TEST(UnseenRefusals, OfPodsThatNobodyEverShowsAreForgotten) {
  UnseenRefusals refusals;
  const auto late = PodBuilder("late").build();
  refusals.put(refused_pod(*late), at(0));
  EXPECT_THAT(refusals.take(showing({}), at(10)), IsEmpty());
  EXPECT_THAT(refusals.take(showing({late}), at(10)), IsEmpty());
  for (std::size_t i = 0; i < UnseenRefusals::kMost; ++i) {
    refusals.put(refused_pod(PodBuilder("made-up-" + std::to_string(i)).value()), at(20));
  }
  refusals.put(refused_pod(*late), at(20));
  EXPECT_THAT(refusals.take(showing({late}), at(20)), IsEmpty()) << "no more than kMost are kept";
}

}  // namespace
}  // namespace millwright::app
