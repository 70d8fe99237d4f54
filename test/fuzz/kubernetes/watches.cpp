// What an API server tells an informer. The first line is the kind that is watched. The lines up to
// the first empty one answer requests for pages of the list: JSON, or an HTTP status and a space
// before it. The rest is the text of the watch.
#include "fuzz/expect.hpp"
#include "millwright/cluster/state.hpp"
#include "millwright/kube/informer.hpp"
#include "unit/kube/fake_transport.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace millwright::kube {
namespace {

using fuzz::expect;

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

net::Response page(std::string_view line) {
  constexpr std::size_t kDigits = 3;
  const bool has_status = line.size() > kDigits && line[kDigits] == ' ' &&
                          std::all_of(line.begin(), line.begin() + kDigits,
                                      [](char c) { return c >= '0' && c <= '9'; });
  if (!has_status) {
    return net::Response::json(200, std::string(line));
  }
  return net::Response::json(std::stoi(std::string(line.substr(0, kDigits))),
                             std::string(line.substr(kDigits + 1)));
}

template <class T>
base::Result<T> decode(std::string_view kind, const boost::json::value& json) {
  if constexpr (std::is_same_v<T, model::PodSelector>) {
    return model::decode_pod_selector(kind, json);
  } else if constexpr (std::is_same_v<T, model::Workload>) {
    return model::decode_workload(kind, json);
  } else {
    return model::decode<T>(json);
  }
}

// An informer of one kind, and the cluster state that it feeds.
template <class T>
class Watching {
 public:
  explicit Watching(const model::Resource& resource) : resource_(resource) {
    transport_->answer = [](const ApiRequest&) {
      return net::Response::json(200, R"({"metadata":{"resourceVersion":"1"},"items":[]})");
    };
  }

  void play(std::string_view text) {
    while (!text.empty()) {
      const std::string_view line = take_line(text);
      if (line.empty()) {
        break;
      }
      transport_->scripted.emplace_back(page(line));
    }
    group_.spawn(
        run_informer(client_, {.resource = resource_, .seed = 7},
                     {.upsert = [this](const boost::json::value& object) { upsert(object); },
                      .remove = [this](const model::ObjectKey& key,
                                       const std::string& uid) { remove(key, uid); },
                      .synced =
                          [this] {
                            expect(!std::exchange(synced_, true));
                            state_.set_synced(true);
                          }},
                     group_.stop_token()));
    send(text);
    end_with_nothing();
    group_.request_stop();
    loop_.run_for(std::chrono::seconds(1));
  }

 private:
  // Whatever was answered before, in the end a watch begins. A list may wait for 30 s, many times.
  test::FakeStream& stream() {
    const auto is_watched = [this] {
      return !transport_->streams.empty() && !transport_->streams.back()->ended();
    };
    expect(loop_.run_until(is_watched, std::chrono::hours(24 * 7)));
    return *transport_->streams.back();
  }

  // In pieces that end anywhere.
  void send(std::string_view events) {
    test::FakeStream& watched = stream();
    const std::size_t piece = 1 + events.size() % 61;
    for (std::size_t at = 0; at < events.size(); at += piece) {
      watched.send(events.substr(at, piece));
    }
    state_.snapshot();
    watched.end();
    stream();
  }

  // The server forgets the version, and lists nothing: then nothing may be left.
  void end_with_nothing() {
    transport_->scripted.clear();
    stream().send(R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})"
                  "\n");
    stream();
    expect(synced_ && uids_.empty());
    const auto snapshot = state_.snapshot();
    expect(snapshot->nodes.empty() && snapshot->pending_pods.empty());
    expect(ledger_.view()->by_target.empty() && ledger_.view()->fences_by_node.empty());
  }

  void upsert(const boost::json::value& object) {
    const model::ObjectKey key{std::string(model::text_at(object, "metadata.namespace")),
                               std::string(model::text_at(object, "metadata.name"))};
    const std::string uid(model::text_at(object, "metadata.uid"));
    expect(!key.name.empty() && object.as_object().contains("kind") &&
           object.as_object().contains("apiVersion"));
    // Another object of the name comes after the end of the one before.
    expect(uids_.try_emplace(key, uid).first->second == uid);
    auto decoded = decode<T>(resource_.kind, object);
    if (decoded) {
      state_.upsert(std::make_shared<const T>(*std::move(decoded)));
    } else {
      expect(!decoded.error().message.empty());
    }
  }

  void remove(const model::ObjectKey& key, const std::string& uid) {
    const auto known = uids_.find(key);
    expect(known != uids_.end() && known->second == uid);
    uids_.erase(known);
    state_.template remove<T>(key, {.uid = uid, .kind = resource_.kind, .group = resource_.group});
  }

  model::Resource resource_;
  base::VirtualLoop loop_{test::kStart};
  std::shared_ptr<test::FakeTransport> transport_ = std::make_shared<test::FakeTransport>(loop_);
  Client client_{loop_, transport_};
  cluster::Ledger ledger_;
  cluster::State state_{ledger_, [this] { return loop_.now(); }};
  std::map<model::ObjectKey, std::string> uids_;  // of what was reported and not yet removed
  bool synced_ = false;
  base::TaskGroup group_{loop_};
};

// Some kinds are watched as two things.
void watch(std::string_view text) {
  const std::string_view kind = take_line(text);
  cluster::for_each_watched_kind([&]<class T>(const cluster::WatchedKind<T>& watched) {
    const auto resources =
        std::is_same_v<T, model::NodeClass> ? model::node_class_resources() : watched.resources;
    for (const model::Resource& resource : resources) {
      if (resource.kind == kind) {
        Watching<T>(resource).play(text);
      }
    }
  });
}

}  // namespace
}  // namespace millwright::kube

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  millwright::kube::watch(text);
  return 0;
}
