#include "app/replay/recorded_day.hpp"

#include "app/replay/day_pods.hpp"
#include "app/replay/stand_in.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace millwright::app {
namespace {

namespace json = boost::json;
using base::ErrorKind;
using model::text_at;

// An object is at most a few MiB in etcd.
constexpr std::size_t kMostOfALine = 8U << 20U;
constexpr std::size_t kMostValuesOfALine = 500'000;
constexpr auto kLongestDay = std::chrono::hours(24 * 31);

using StoredKey = std::pair<const model::Resource*, model::ObjectKey>;

bool is_kind(const RecordingLine& line, const model::Resource& resource) {
  return *line.resource == resource;
}

bool is_managed(const json::value& node) {
  return !model::as_text(
              model::member(model::find_path(node, "metadata.labels"), model::kNodePoolLabel))
              .empty();
}

bool is_ready_node(const json::value& node) {
  const auto decoded = model::decode<model::Node>(node);
  return decoded && model::is_ready(*decoded);
}

// Those that something else may still need while they are being deleted.
bool stays_until_gone(const model::Resource& resource) {
  return resource == model::kPersistentVolumeResource ||
         resource == model::kPersistentVolumeClaimResource || resource == model::kNamespaceResource;
}

// The controller of its Deployment makes it.
bool is_made_by_deployment(const model::Resource& resource, const json::value& object) {
  const auto* owner = controller_of(object);
  return resource == model::kReplicaSetResource && owner != nullptr &&
         text_at(*owner, "kind") == "Deployment" &&
         model::api_group(text_at(*owner, "apiVersion")) == model::kDeploymentResource.group;
}

class DayReader {
 public:
  DayReader(std::string_view text, std::string file) : rest_(text), file_(std::move(file)) {
    day_.clock = std::make_unique<base::VirtualLoop>(base::TimePoint());
    day_.recorded = std::make_unique<sandbox::Recorder>(*day_.clock);
  }

  base::Result<RecordedDay> read() {
    std::string_view line;
    if (!next_line(line)) {
      number_ = 1;
      return wrong("recording: the file is empty");
    }
    auto header = parse_recording_header(line);
    if (!header) {
      return wrong(header.error().message);
    }
    day_.header = *std::move(header);
    last_ = day_.header.start;
    while (!ended_ && next_line(line)) {
      if (auto read = read_line(line); !read) {
        return tl::unexpected(std::move(read).error());
      }
    }
    if (!has_begun()) {
      return base::fail(ErrorKind::Invalid,
                        file_ +
                            ": it ends before the cluster was listed; record it anew, and let "
                            "it run until it is");
    }
    finish();
    return std::move(day_);
  }

 private:
  tl::unexpected<base::Error> wrong(const std::string& what) const {
    return base::fail(ErrorKind::Invalid, file_ + " line " + std::to_string(number_) + ": " + what);
  }

  bool has_begun() const { return day_.start != base::TimePoint(); }

  // Without its end. The last one may lack it.
  bool next_line(std::string_view& line) {
    if (rest_.empty()) {
      return false;
    }
    const auto end = rest_.find('\n');
    whole_ = end != std::string_view::npos;
    line = rest_.substr(0, end);
    rest_ = whole_ ? rest_.substr(end + 1) : std::string_view();
    ++number_;
    return true;
  }

  base::Result<> read_line(std::string_view text) {
    const bool fits =
        text.size() <= kMostOfALine && !model::has_more_values(text, kMostValuesOfALine);
    auto line = fits ? parse_recording_line(text)
                     : base::fail(ErrorKind::Invalid, "the line is larger than any object");
    if (!line && !whole_) {
      day_.notes.push_back("the last line of the recording was cut off, and is left out");
      return {};
    }
    if (!line) {
      return wrong(line.error().message);
    }
    if (line->at < last_) {
      return wrong("at: is before the line before");
    }
    if (line->at > base::sum_of(day_.header.start, kLongestDay).value_or(line->at)) {
      return wrong("at: is more than 31 days after the start");
    }
    last_ = line->at;
    return take(*line);
  }

  base::Result<> take(RecordingLine& line) {
    switch (line.kind) {
      case RecordingLine::Kind::Listed:
        return begin(line);
      case RecordingLine::Kind::End:
        ended_ = true;
        return {};
      case RecordingLine::Kind::Gone:
        take_gone(line);
        return {};
      case RecordingLine::Kind::Object:
        break;
    }
    if (auto good = check(line); !good) {
      return good;
    }
    if (has_begun()) {
      take_object(line);
    }
    auto& last = objects_[{line.resource, line.key}];
    auto object = std::make_shared<const json::value>(std::move(line.object));
    record(line, last == nullptr ? sandbox::Change::Added : sandbox::Change::Modified, object);
    last = std::move(object);
    return {};
  }

  // Those that are read as values later must be readable.
  base::Result<> check(const RecordingLine& line) const {
    base::Result<> good;
    const auto note = [&good](const auto& decoded) {
      if (!decoded) {
        good = base::fail(ErrorKind::Invalid, decoded.error().message);
      }
    };
    if (is_kind(line, model::kPodResource)) {
      note(model::decode<model::Pod>(line.object));
    } else if (is_kind(line, model::kNodeResource)) {
      note(model::decode<model::Node>(line.object));
    } else if (is_kind(line, model::kNodeClaimResource)) {
      note(model::decode<model::NodeClaim>(line.object));
    } else if (is_kind(line, model::kNodePoolResource)) {
      note(model::decode<model::NodePool>(line.object));
    }
    return good ? good : base::Result<>(wrong("object: " + good.error().message));
  }

  void record(const RecordingLine& line, sandbox::Change change, const sandbox::Object& object) {
    day_.recorded->take_in(*line.resource, {.change = change,
                                            .object = object,
                                            .previous = nullptr,
                                            .version = number_,
                                            .time = line.at});
  }

  base::Result<> begin(const RecordingLine& line) {
    if (has_begun()) {
      return wrong("listed: the cluster was listed before");
    }
    day_.start = line.at;
    for (const auto& resource : line.without) {
      day_.notes.push_back("recorded without " + resource + ": they could not be listed");
    }
    for (const auto& [key, object] : objects_) {
      uids_.insert(std::string(text_at(*object, "metadata.uid")));
    }
    for (const auto& [key, object] : objects_) {
      if (*key.first == model::kPodResource) {
        begin_pod(*object);
        continue;
      }
      if (!is_made_by_deployment(*key.first, *object)) {
        wishes_[key] = json::serialize(wish_of(*key.first, *object));
      }
      auto first = *object;
      fill_images(first);
      restamp(*key.first, first);
      day_.first.push_back(std::move(first));
    }
    return {};
  }

  // The hash of a NodePool whose names are hidden is another than the recorded one: a claim that
  // fitted then has to fit now.
  void restamp(const model::Resource& resource, json::value& claim) const {
    if (!day_.header.names_hidden || resource != model::kNodeClaimResource) {
      return;
    }
    const std::string name(model::as_text(
        model::member(model::find_path(claim, "metadata.labels"), model::kNodePoolLabel)));
    const auto found = std::find_if(objects_.begin(), objects_.end(), [&](const auto& entry) {
      return *entry.first.first == model::kNodePoolResource && entry.first.second.name == name;
    });
    auto* annotations = claim.at("metadata").as_object().if_contains("annotations");
    if (found == objects_.end() || annotations == nullptr || !annotations->is_object()) {
      return;
    }
    auto& members = annotations->get_object();
    const auto* of_claim = members.if_contains(model::kNodePoolHashAnnotation);
    const auto* of_pool = model::member(model::find_path(*found->second, "metadata.annotations"),
                                        model::kNodePoolHashAnnotation);
    const auto pool = model::decode<model::NodePool>(*found->second);
    if (of_claim != nullptr && of_pool != nullptr && *of_pool == *of_claim && pool) {
      members[model::kNodePoolHashAnnotation] = model::nodepool_hash(pool->template_);
      members[model::kNodePoolHashVersionAnnotation] = model::kNodePoolHashVersion;
    }
  }

  void begin_pod(const json::value& pod) {
    const auto* owner = controller_of(pod);
    const bool owned = owner != nullptr && uids_.contains(std::string(text_at(*owner, "uid")));
    loose_.begin(pod, owned, day_, number_);
  }

  void take_object(const RecordingLine& line) {
    if (is_kind(line, model::kPodResource)) {
      loose_.take(line, number_);
      runs_.take(line);
    } else if (is_kind(line, model::kNodeResource)) {
      take_node(line);
    } else if (!is_kind(line, model::kNodeClaimResource) &&
               !is_kind(line, model::kCSINodeResource)) {
      take_wish(line);
    }
  }

  // Those of NodePools are what the autoscaler made of the day; others come and go by themselves.
  void take_node(const RecordingLine& line) {
    if (is_managed(line.object) || !is_ready_node(line.object)) {
      return;
    }
    const auto last = objects_.find({line.resource, line.key});
    if (last != objects_.end() && is_ready_node(*last->second)) {
      return;
    }
    auto node = line.object;
    node.at("metadata").as_object().erase("finalizers");
    add_step(line, DayStep::What::Put, std::move(node));
  }

  void take_wish(const RecordingLine& line) {
    if (is_made_by_deployment(*line.resource, line.object)) {
      return;
    }
    if (is_deleting(line.object) && !stays_until_gone(*line.resource)) {
      remove_wish(line, line.object);
      return;
    }
    auto wish = wish_of(*line.resource, line.object);
    auto text = json::serialize(wish);
    auto& last = wishes_[{line.resource, line.key}];
    if (last != text) {
      last = std::move(text);
      add_step(line, DayStep::What::Put, std::move(wish));
    }
  }

  void remove_wish(const RecordingLine& line, const json::value& object) {
    if (wishes_.erase({line.resource, line.key}) == 0) {
      return;  // known already
    }
    // A Job that is over goes when its time to live has passed, which changes nothing here.
    if (is_kind(line, model::kJobResource) && !text_at(object, "status.completionTime").empty()) {
      return;
    }
    add_step(line, DayStep::What::Remove, object);
  }

  void take_gone(const RecordingLine& line) {
    const auto found = objects_.find({line.resource, line.key});
    if (found == objects_.end()) {
      return;
    }
    const auto object = found->second;
    objects_.erase(found);
    record(line, sandbox::Change::Deleted, object);
    if (!has_begun()) {
      return;
    }
    if (is_kind(line, model::kPodResource)) {
      loose_.gone(line);
    } else if (!is_kind(line, model::kNodeResource)) {
      remove_wish(line, *object);
    } else if (!is_managed(*object)) {
      add_step(line, DayStep::What::Remove, *object);
    }
  }

  void add_step(const RecordingLine& line, DayStep::What what, json::value object) {
    day_.steps.push_back({.at = line.at,
                          .line = number_,
                          .what = what,
                          .object = {.resource = line.resource, .object = std::move(object)}});
  }

  void finish() {
    day_.end = last_;
    runs_.set(day_);
    loose_.place(day_);
    std::stable_sort(day_.steps.begin(), day_.steps.end(),
                     [](const DayStep& a, const DayStep& b) { return a.at < b.at; });
    if (!ended_) {
      day_.notes.emplace_back(
          "the recording was not ended in good order: it is taken to end with "
          "its last line");
    }
  }

  std::string_view rest_;
  std::string file_;
  std::size_t number_ = 0;  // of the line
  bool whole_ = false;
  bool ended_ = false;
  base::TimePoint last_;
  RecordedDay day_;
  std::map<StoredKey, sandbox::Object> objects_;  // as they were last
  std::map<StoredKey, std::string> wishes_;
  std::set<std::string> uids_;  // at the start
  LoosePods loose_;
  JobRuns runs_;
};

}  // namespace

base::Result<RecordedDay> read_day(std::string_view text, const std::string& file) {
  return DayReader(text, file).read();
}

}  // namespace millwright::app
