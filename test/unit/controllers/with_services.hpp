// A test of one controller: the services that it is given, over an API server that answers what the
// test wants.
#pragma once

#include "millwright/controllers/pools/registration_health.hpp"
#include "millwright/controllers/services.hpp"
#include "millwright/telemetry/chronicle.hpp"
#include "unit/cluster/objects.hpp"
#include "unit/kube/fake_transport.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace millwright::controllers {

struct HeardEvents final : kube::EventSink {
  void record(kube::Event event) override {
    reasons.push_back(std::move(event.reason));
    messages.push_back(std::move(event.message));
  }
  std::vector<std::string> reasons;
  std::vector<std::string> messages;  // of the same events
};

class WithServices : public ::testing::Test {
 protected:
  base::VirtualLoop loop_{testing::at(0)};
  base::InlineCompute compute_;
  std::shared_ptr<kube::test::FakeTransport> transport_ =
      std::make_shared<kube::test::FakeTransport>(loop_);
  kube::Client client_{loop_, transport_};
  cluster::Ledger ledger_;
  cluster::State state_{ledger_};
  std::vector<std::string> used_;  // what a cloud::Witness notes
  cloud::ProviderSet providers_;
  HeardEvents events_;
  base::Metrics metrics_;
  telemetry::Chronicle chronicle_{metrics_, testing::at(0)};
  RegistrationHealth registration_health_;
  Services services_ = services_with(compute_, {});

  // The same, but for these.
  Services services_with(base::Compute& compute, base::Logger log) {
    return {.loop = loop_,
            .compute = compute,
            .client = client_,
            .state = state_,
            .ledger = ledger_,
            .providers = providers_,
            .events = events_,
            .metrics = metrics_,
            .chronicle = chronicle_,
            .registration_health = registration_health_,
            .log = std::move(log),
            .options = {}};
  }
};

}  // namespace millwright::controllers
