#include "app/recording/cluster_recording.hpp"

#include "app/recording/recording_lines.hpp"
#include "app/whatif/cluster/cluster_files.hpp"
#include "millwright/base/version.hpp"
#include "millwright/kube/informer.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>

#include <functional>

namespace millwright::app {
namespace {

// Kept free for the line that ends the recording.
constexpr std::uint64_t kRoomForTheEnd = 1024;

}  // namespace

ClusterRecording::ClusterRecording(RecordingParts parts)
    : parts_(std::move(parts)), group_(parts_.client.loop()) {}

base::Task<base::Result<RecordingOutcome>> ClusterRecording::run(std::stop_token stop) {
  put(header_line({.start = parts_.client.loop().now(),
                   .program = base::version(),
                   .names_hidden = parts_.redaction.hides_names()}));
  const std::stop_callback end_when_stopped(stop, [this] { end("stopped"); });
  for (std::size_t kind = 0; kind < planned_kinds().size(); ++kind) {
    unlisted_.insert(kind);
  }
  for (std::size_t kind = 0; kind < planned_kinds().size(); ++kind) {
    watch(kind);
  }
  co_await group_.join();
  if (!failure_) {
    const auto line = end_line(parts_.client.loop().now(), outcome_.ended);
    if (auto written = parts_.write(line); !written) {
      failure_ = std::move(written).error();
    }
    outcome_.bytes += line.size();
    ++outcome_.lines;
  }
  if (failure_) {
    co_return tl::unexpected(*std::move(failure_));
  }
  co_return std::move(outcome_);
}

base::Task<void> ClusterRecording::end_after(base::Duration duration) {
  const bool over = co_await base::sleep(parts_.client.loop(), duration, group_.stop_token());
  if (over) {
    end("duration");
  }
}

void ClusterRecording::watch(std::size_t kind) {
  kube::InformerHandlers handlers;
  handlers.upsert = [this, kind](const boost::json::value& object) { seen(kind, object); };
  handlers.remove = [this, kind](const model::ObjectKey& key, const std::string& uid) {
    gone(kind, key, uid);
  };
  handlers.synced = [this, kind] { listed(kind); };
  handlers.not_listable = [this, kind](const base::Error& why) { not_listable(kind, why); };
  kube::InformerOptions options{
      .resource = planned_kinds()[kind], .seed = parts_.seed + kind, .log = parts_.log};
  group_.spawn(kube::run_informer(parts_.client, std::move(options), std::move(handlers),
                                  group_.stop_token()));
}

void ClusterRecording::seen(std::size_t kind, const boost::json::value& object) {
  const auto redacted = parts_.redaction.redacted(planned_kinds()[kind], object);
  const auto text = boost::json::serialize(redacted);
  Key key{kind,
          {std::string(model::text_at(object, "metadata.namespace")),
           std::string(model::text_at(object, "metadata.name"))}};
  // Most changes are of what is not kept, such as heartbeats.
  const std::uint64_t digest = std::hash<std::string>{}(text);
  const auto [entry, is_new] = written_.try_emplace(std::move(key), digest);
  if (!is_new && std::exchange(entry->second, digest) == digest) {
    return;
  }
  put(object_line(parts_.client.loop().now(), redacted));
}

void ClusterRecording::gone(std::size_t kind, const model::ObjectKey& key, const std::string& uid) {
  written_.erase({kind, key});
  put(gone_line(parts_.client.loop().now(), planned_kinds()[kind],
                {.namespace_ = parts_.redaction.name(key.namespace_),
                 .name = parts_.redaction.name(key.name)},
                uid));
}

void ClusterRecording::listed(std::size_t kind) {
  without_.erase(kind);
  kind_is_done(kind);
}

// What the API server refuses later may pass, and is no reason to end a recording of many hours.
void ClusterRecording::not_listable(std::size_t kind, const base::Error& why) {
  if (why.kind == base::ErrorKind::Unauthorized) {
    if (!outcome_.listed) {
      fail({why.kind,
            why.message + "; log in again, or give another kubeconfig with --kubeconfig",
            {}});
    }
    return;
  }
  if (!unlisted_.contains(kind)) {
    return;
  }
  const auto& resource = planned_kinds()[kind];
  if (resource == model::kPodResource || resource == model::kNodeResource) {
    fail({base::ErrorKind::Denied,
          "may not list " + std::string(resource.plural) +
              ", without which there is nothing to record; `kubectl auth can-i list " +
              std::string(resource.plural) + " -A` must say yes",
          {}});
    return;
  }
  without_.insert(kind);
  kind_is_done(kind);
}

void ClusterRecording::kind_is_done(std::size_t kind) {
  if (unlisted_.erase(kind) == 0 || !unlisted_.empty()) {
    return;
  }
  for (const auto each : without_) {
    outcome_.without.emplace_back(planned_kinds()[each].plural);
  }
  outcome_.listed = true;
  put(listed_line(parts_.client.loop().now(), outcome_.without));
  if (parts_.on_listed) {
    parts_.on_listed();
  }
  if (parts_.duration) {
    group_.spawn(end_after(*parts_.duration));
  }
}

void ClusterRecording::put(const std::string& line) {
  if (!outcome_.ended.empty() || failure_) {
    return;
  }
  if (outcome_.bytes + line.size() + kRoomForTheEnd > parts_.most_bytes) {
    end("size");
    return;
  }
  if (auto written = parts_.write(line); !written) {
    fail(std::move(written).error());
    return;
  }
  outcome_.bytes += line.size();
  ++outcome_.lines;
}

void ClusterRecording::end(std::string_view why) {
  if (outcome_.ended.empty()) {
    outcome_.ended = why;
    group_.request_stop();
  }
}

void ClusterRecording::fail(base::Error error) {
  if (!failure_) {
    failure_ = std::move(error);
    group_.request_stop();
  }
}

}  // namespace millwright::app
