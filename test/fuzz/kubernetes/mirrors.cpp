// The ledger's mirror annotations, as another process, or a person, left them. The lines are, in
// this order: reservations on NodeClaim "a", which has Node "n"; reservations on NodeClaim "b"; the
// fence on NodeClaim "a"; one on Node "n", where nobody reads it; reservations on NodeClaim "a"
// later. "@web" stands for the group of pods "web-1" to "web-3", which wait.
#include "fuzz/expect.hpp"
#include "unit/cluster/state_kit.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace millwright::cluster {
namespace {

using fuzz::expect;
using testing::at;
using testing::ClaimBuilder;
using testing::web;

struct Texts {
  std::string of_a;
  std::string of_b;
  std::string fence_of_a;
  std::string fence_of_n;
  std::string of_a_later;
};

std::string with_groups(std::string text) {
  constexpr std::string_view kWeb = "@web";
  const std::string group = scheduling::group_of(web("web-1").value()).text();
  for (std::size_t found = text.find(kWeb); found != std::string::npos;
       found = text.find(kWeb, found + group.size())) {
    text.replace(found, kWeb.size(), group);
  }
  return text;
}

Texts read_texts(const std::string& all) {
  Texts texts;
  std::size_t begin = 0;
  for (std::string* const text :
       {&texts.of_a, &texts.of_b, &texts.fence_of_a, &texts.fence_of_n, &texts.of_a_later}) {
    const std::size_t end = std::min(all.find('\n', begin), all.size());
    *text = with_groups(all.substr(begin, end - begin));
    begin = std::min(end + 1, all.size());
  }
  return texts;
}

// What is read is written so that it is read alike, but for parts of a microsecond. False when
// there is something that cannot be read.
bool check_reservations(const std::string& text) {
  const auto read = decode_reservations(text, "t");
  if (!read) {
    expect(read.error().kind == base::ErrorKind::Invalid && !read.error().message.empty());
    return text.empty();
  }
  const auto again = decode_reservations(encode_reservations(*read), "t");
  expect(again && again->size() == read->size());
  const auto same = decode_reservations(encode_reservations(*again), "t");
  expect(same && *same == *again);
  return true;
}

bool check_fence(const std::string& text) {
  const auto read = decode_fence(text, "n");
  if (!read) {
    expect(read.error().kind == base::ErrorKind::Invalid && !read.error().message.empty());
    return text.empty();
  }
  const auto again = decode_fence(encode_fence(*read), "n");
  expect(again && again->reason == read->reason);
  const auto same = decode_fence(encode_fence(*again), "n");
  expect(same && *same == *again);
  return true;
}

// A state of three pods that wait, with what the annotations say.
class Restarted {
 public:
  explicit Restarted(Texts texts) : texts_(std::move(texts)) {
    state_.on_problem([this](const std::string& message) {
      expect(!message.empty());
      ++problems_;
    });
  }

  void play() {
    state_.upsert(claim("a", 1, texts_.of_a));
    state_.upsert(claim("b", 1, texts_.of_b));
    for (const char* const name : {"web-1", "web-2", "web-3"}) {
      state_.upsert(web(name).build());
    }
    check();
    state_.upsert(testing::NodeBuilder("n")
                      .managed()
                      .provider("p-a")
                      .allocatable(4000)
                      .annotation(model::kFenceAnnotation, texts_.fence_of_n)
                      .build());
    check();
    state_.set_synced(true);
    check();
    state_.upsert(web("web-1").on("n").build());
    state_.upsert(claim("a", 2, texts_.of_a_later));
    check();
    forget_all();
  }
  int problems() const { return problems_; }

 private:
  std::shared_ptr<const model::NodeClaim> claim(const std::string& name, int version,
                                                const std::string& reservations) const {
    return ClaimBuilder(name)
        .version(version)
        .provider("p-" + name)
        .annotation(model::kReservationsAnnotation, reservations)
        .annotation(model::kFenceAnnotation, name == "a" ? texts_.fence_of_a : std::string())
        .build();
  }

  // Of what is over nothing is taken, and once the lists are complete no more than is needed.
  void check() {
    const auto snapshot = state_.snapshot();
    std::set<std::pair<std::string, std::string>> places;
    std::map<scheduling::GroupId, std::int64_t> counts;
    for (const scheduling::Reservation& each : snapshot->reservations) {
      expect(each.count > 0 && each.until > at(0) &&
             (each.target == "n" || each.target == "a" || each.target == "b"));
      expect(places.emplace(each.target, each.group.text()).second);
      counts[each.group] += each.count;
    }
    for (const auto& [group, count] : counts) {
      const auto* const demand = scheduling::find_demand(snapshot->demand, group);
      expect(!snapshot->synced || group.is_whole_owner() ||
             (demand != nullptr && count <= demand->most_reserved()));
    }
    const auto view = ledger_.view();
    expect(view->fences_by_node.size() == (view->fences_by_node.contains("n") ? 1U : 0U));
  }

  void forget_all() {
    state_.remove<model::NodeClaim>({.namespace_ = {}, .name = "a"});
    state_.remove<model::NodeClaim>({.namespace_ = {}, .name = "b"});
    check();
    state_.remove<model::Node>({.namespace_ = {}, .name = "n"});
    check();
    expect(ledger_.view()->by_target.empty() && ledger_.view()->targets_by_group.empty() &&
           ledger_.view()->fences_by_node.empty());
  }

  Texts texts_;
  int problems_ = 0;
  Ledger ledger_;
  State state_{ledger_, [] { return at(0); }};
};

void adopt(const std::string& all) {
  const Texts texts = read_texts(all);
  const std::array readable{check_reservations(texts.of_a), check_reservations(texts.of_b),
                            check_reservations(texts.of_a_later), check_fence(texts.fence_of_a)};
  Restarted restarted(texts);
  restarted.play();
  // People hear of what cannot be read, and of nothing else.
  const bool all_readable = std::find(readable.begin(), readable.end(), false) == readable.end();
  expect(all_readable == (restarted.problems() == 0));
}

}  // namespace
}  // namespace millwright::cluster

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  millwright::cluster::adopt(std::string(data, data + size));
  return 0;
}
