#include "app/replay/day/recorded_day.hpp"

#include "app/replay/day/day_pods.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace millwright::app {
namespace {

namespace json = boost::json;
using base::ErrorKind;

// An object is at most a few MiB in etcd.
constexpr std::size_t kMostOfALine = 8U << 20U;
constexpr std::size_t kMostValuesOfALine = 500'000;
constexpr auto kLongestDay = std::chrono::hours(24 * 31);
// After everything was listed, for what was made while it was.
constexpr auto kLongestGap = std::chrono::minutes(1);
constexpr std::string_view kGzipMagic = "\x1f\x8b";  // RFC 1952

class DayReader final : private DayListener {
 public:
  DayReader(std::string_view text, std::string file)
      : rest_(text), file_(std::move(file)), day_(empty_day()), objects_(*day_.recorded, *this) {}

  base::Result<RecordedDay> read() {
    std::string_view line;
    if (!next_line(line)) {
      number_ = 1;
      return wrong("recording: the file is empty");
    }
    if (line.starts_with(kGzipMagic)) {
      return base::fail(ErrorKind::Invalid,
                        file_ + ": it is packed by gzip; unpack it with gunzip and replay that");
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
    if (!listed_at_) {
      return base::fail(ErrorKind::Invalid,
                        file_ +
                            ": it ends before the cluster was listed; record it anew, and let "
                            "it run until it is");
    }
    if (auto begun = begin_if_due(*listed_at_ + kLongestGap); !begun) {
      return tl::unexpected(std::move(begun).error());
    }
    finish();
    return std::move(day_);
  }

 private:
  tl::unexpected<base::Error> wrong(const std::string& what) const {
    return base::fail(ErrorKind::Invalid, file_ + " line " + std::to_string(number_) + ": " + what);
  }

  static RecordedDay empty_day() {
    RecordedDay day;
    day.clock = std::make_unique<base::VirtualLoop>(base::TimePoint());
    day.recorded = std::make_unique<sandbox::Recorder>(*day.clock);
    return day;
  }

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
      day_.notes.emplace_back("the last line of the recording was cut off, and is left out");
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
        return listed(line);
      case RecordingLine::Kind::End:
        ended_ = true;
        return {};
      case RecordingLine::Kind::Gone:
        objects_.take_gone(line, number_);
        return begin_if_due(line.at);
      case RecordingLine::Kind::Object:
        break;
    }
    const auto at = line.at;
    if (auto taken = objects_.take_object(line, number_); !taken) {
      return wrong(taken.error().message);
    }
    return begin_if_due(at);
  }

  base::Result<> listed(const RecordingLine& line) {
    if (listed_at_) {
      return wrong("listed: the cluster was listed before");
    }
    listed_at_ = line.at;
    for (const auto& resource : line.without) {
      day_.notes.push_back("recorded without " + resource + ": they could not be listed");
    }
    return begin_if_due(line.at);
  }

  base::Result<> begin_if_due(base::TimePoint now) {
    if (!listed_at_ || objects_.has_begun()) {
      return {};
    }
    const auto node = objects_.node_without_claim();
    if (!node.empty() && now - *listed_at_ < kLongestGap) {
      return {};
    }
    if (!node.empty()) {
      return base::fail(ErrorKind::Invalid,
                        file_ + ": Node " + node +
                            " is of a NodePool, and its NodeClaim is not in the recording; record "
                            "it anew, with an account that may list nodeclaims");
    }
    day_.start = std::min(now, last_);
    objects_.begin();
    return {};
  }

  void first(json::value object) override { day_.first.push_back(std::move(object)); }
  void first_pod(const json::value& pod, bool owned) override {
    loose_.begin(pod, owned, day_, number_);
  }
  void asked(DayStep step) override { day_.steps.push_back(std::move(step)); }
  void pod_seen(const RecordingLine& line) override {
    loose_.take(line, number_);
    runs_.take(line);
  }
  void pod_gone(const RecordingLine& line) override { loose_.gone(line); }

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
  std::optional<base::TimePoint> listed_at_;
  RecordedDay day_;
  DayObjects objects_;
  LoosePods loose_;
  JobRuns runs_;
};

}  // namespace

base::Result<RecordedDay> read_day(std::string_view text, const std::string& file) {
  return DayReader(text, file).read();
}

}  // namespace millwright::app
