// A cloud's real adapter over real HTTP against the peer server of its cloud, whose URL the suite's
// script puts into an environment variable. What such tests share: the adapter's life, calls that
// wait, and the peer server's control door.
#pragma once

#include "millwright/cloud/provider.hpp"
#include "millwright/model/labels.hpp"
#include "millwright/net/client.hpp"
#include "support/loop_thread.hpp"
#include "support/records.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>

namespace millwright::test {

class CloudAdapter : public testing::Test {
 protected:
  // `variable` holds the peer server's URL. None of `secrets` may be in a log, in a metric or,
  // by the peer server's ledger, anywhere in a request.
  CloudAdapter(const std::string& variable, std::vector<std::string> secrets)
      : secrets_(std::move(secrets)) {
    const char* found = std::getenv(variable.c_str());
    url = found == nullptr ? "" : found;
  }
  void SetUp() override {
    if (url.empty()) {
      GTEST_SKIP() << "run by scripts/test, which starts the peer server";
    }
    client = net::make_client(thread.loop);
  }
  void TearDown() override {
    stop();
    for (const auto& secret : secrets_) {
      EXPECT_THAT(records->text(), testing::Not(testing::HasSubstr(secret)));
      EXPECT_THAT(metrics.render(), testing::Not(testing::HasSubstr(secret)));
    }
    if (!url.empty()) {
      EXPECT_EQ(boost::json::serialize(control("/_facade/ledger").at("leaks")), "[]");
    }
  }

  // An adapter as the program makes it.
  virtual base::Result<std::unique_ptr<cloud::Provider>> make() = 0;
  std::function<std::optional<std::string>(const std::string&)> lookup() {
    return [this](const std::string& name) -> std::optional<std::string> {
      const auto found = environment.find(name);
      return found == environment.end() ? std::nullopt : std::optional(found->second);
    };
  }

  // A process begins.
  void begin() {
    auto made = make();
    ASSERT_TRUE(made) << made.error().message;
    provider = *std::move(made);
    thread.call([this] {
      background = std::make_unique<base::TaskGroup>(thread.loop);
      provider->on_interruption(
          [this](const cloud::InstanceNotice& notice) { return hear(notices, notice); });
      background->spawn(provider->run(background->stop_token()));
      background->spawn(provider->lead(background->stop_token()));
    });
  }
  // It ends, with all that is under way, as in a crash.
  void stop() {
    thread.call([this] {
      background.reset();
      provider.reset();
    });
  }

  void pause() {
    thread.run<bool>([this] { return pause_once(thread.loop); });
  }
  // Until `is_so`, for a minute at most.
  bool wait_until(const std::function<bool()>& is_so) {
    for (int i = 0; i < 600; ++i) {
      if (is_so()) {
        return true;
      }
      pause();
    }
    return false;
  }

  base::Result<cloud::Instance> create(std::shared_ptr<const model::NodeClaim> claim) {
    return thread.run<base::Result<cloud::Instance>>(
        [&] { return provider->create(claim, the_class); });
  }
  // As a controller does: again after errors that may pass.
  base::Result<cloud::Instance> insist(const std::shared_ptr<const model::NodeClaim>& claim) {
    auto made = create(claim);
    wait_until([&] {
      const bool may_pass = !made && (made.error().kind == base::ErrorKind::Timeout ||
                                      made.error().kind == base::ErrorKind::Unavailable);
      if (may_pass) {
        made = create(claim);
      }
      return !may_pass;
    });
    return made;
  }
  base::Result<> remove(std::shared_ptr<const model::NodeClaim> claim) {
    return thread.run<base::Result<>>([&] { return provider->remove(claim); });
  }
  base::Result<> remove_leaked(const std::string& provider_id) {
    return thread.run<base::Result<>>([&] { return provider->remove_leaked(provider_id); });
  }
  base::Result<std::vector<cloud::Instance>> list() {
    return thread.run<base::Result<std::vector<cloud::Instance>>>([&] { return provider->list(); });
  }
  base::Result<cloud::Instance> get(const std::string& provider_id) {
    return thread.run<base::Result<cloud::Instance>>([&] { return provider->get(provider_id); });
  }
  base::Result<std::string> drift(std::shared_ptr<const model::NodeClaim> claim) {
    return thread.run<base::Result<std::string>>([&] { return provider->drift(claim, the_class); });
  }
  // Resolves the class and keeps what was found.
  void resolve(const std::shared_ptr<model::NodeClass>& of) {
    const auto state =
        thread.run<base::Result<cloud::NodeClassState>>([&] { return provider->resolve(of); });
    ASSERT_TRUE(state) << state.error().message;
    EXPECT_TRUE(state->ready) << state->message;
    of->status = state->status;
    the_class = of;
  }
  // What the type costs where it is offered first; 0 when that is not known.
  double price_of(std::string_view name) {
    double result = 0;
    thread.call([&] {
      const auto types = provider->instance_types({}, *the_class);
      const auto* type = types ? scheduling::find_type(*types, name) : nullptr;
      result = type == nullptr || type->offerings.empty() ? 0 : type->offerings.front().price;
    });
    return result;
  }
  bool is_available(std::string_view name, std::string_view zone, std::string_view capacity_type) {
    bool result = false;
    thread.call([&] {
      const auto types = provider->instance_types({}, *the_class);
      const auto* type = types ? scheduling::find_type(*types, name) : nullptr;
      for (const auto& offering :
           type == nullptr ? scheduling::InstanceType{}.offerings : type->offerings) {
        result = result || (offering.zone() == zone && offering.available &&
                            offering.capacity_type() == capacity_type);
      }
    });
    return result;
  }
  // Notices so far: "spot_interrupted cn-hangzhou.i-1".
  std::vector<std::string> told() {
    std::vector<std::string> result;
    thread.call([&] { result = notices; });
    return result;
  }

  static std::shared_ptr<model::NodeClaim> claim_named(const std::string& name,
                                                       std::vector<std::string> types) {
    auto claim = std::make_shared<model::NodeClaim>();
    claim->meta.name = name;
    claim->meta.uid = "uid-" + name;
    claim->meta.labels[std::string(model::kNodePoolLabel)] = "pool";
    require(*claim, model::kInstanceTypeLabel, std::move(types));
    return claim;
  }
  static void require(model::NodeClaim& claim, std::string_view key,
                      std::vector<std::string> values) {
    claim.requirements.push_back({.key = std::string(key),
                                  .op = model::Operator::In,
                                  .values = std::move(values),
                                  .min_values = {}});
  }
  // As a controller records what it got.
  static void record(model::NodeClaim& claim, const cloud::Instance& instance) {
    claim.provider_id = instance.provider_id;
    for (const auto& [key, value] : instance.annotations) {
      claim.meta.annotations[key] = value;
    }
  }

  // The peer server's control door: GET without a body, else POST.
  boost::json::value control(const std::string& path, const std::string& body = "") {
    net::ClientRequest request;
    request.method = body.empty() ? "GET" : "POST";
    request.url = url + path;
    request.body = body;
    const auto answer = client->send_blocking(std::move(request));
    EXPECT_TRUE(answer && answer->status == 200) << path << " " << body;
    return answer && answer->status == 200 ? boost::json::parse(answer->body)
                                           : boost::json::value();
  }
  // A number of the ledger: how often a call was made, how many instances a claim was given.
  std::int64_t counted(std::string_view list, std::string_view name) {
    const auto ledger = control("/_facade/ledger");
    const auto* found = ledger.at(list).as_object().if_contains(name);
    return found == nullptr ? 0 : found->as_int64();
  }

  std::string url;
  LoopThread thread;
  std::map<std::string, std::string> environment;
  std::unique_ptr<net::Client> client;
  std::shared_ptr<Records> records = std::make_shared<Records>();
  base::Metrics metrics;
  std::vector<std::string> notices;  // of the loop's thread
  std::unique_ptr<cloud::Provider> provider;
  std::unique_ptr<base::TaskGroup> background;
  std::shared_ptr<const model::NodeClass> the_class;

 private:
  static base::Task<bool> pause_once(base::Loop& loop) {
    co_await base::sleep(loop, std::chrono::milliseconds(100));
    co_return true;
  }
  static base::Task<base::Result<>> hear(std::vector<std::string>& into,
                                         cloud::InstanceNotice notice) {
    into.push_back(notice.kind + " " + notice.provider_id);
    co_return base::Result<>{};
  }

  std::vector<std::string> secrets_;
};

}  // namespace millwright::test
