// The life of a bundle: what is renewed when, in given points of time.
#include "millwright/certs/certs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::certs {
namespace {

using base::Duration;
using base::TimePoint;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

const TimePoint kStart = *base::parse_rfc3339("2026-03-01T12:00:00Z");
constexpr hours kDay{24};

Policy policy() {
  Policy p;
  p.dns_names = {"millwright.kube-system.svc", "millwright.kube-system.svc.cluster.local"};
  p.ip_addresses = {"10.0.0.7", "FD00::0:7"};
  return p;
}

Bundle at(const std::optional<Bundle>& stored, TimePoint now, const Policy& p = policy()) {
  auto bundle = reconcile(stored, p, now);
  EXPECT_TRUE(bundle) << bundle.error().message;
  return bundle.value_or(Bundle{});
}

void expect_serves(const Bundle& bundle, TimePoint now) {
  const auto result = verify(bundle.leaf, bundle.trust_pem(now), policy().dns_names, now);
  EXPECT_TRUE(result) << result.error().message;
}

// Its issuer is the CA that signs now, and it ends with it.
void expect_client(const Bundle& bundle) {
  const auto client = validity_of(bundle.client.certificate_pem);
  const auto ca = validity_of(bundle.ca.certificate_pem);
  ASSERT_TRUE(client && ca);
  EXPECT_EQ(client->not_after, ca->not_after);
  EXPECT_FALSE(verify(bundle.client, bundle.ca.certificate_pem, {}, client->not_before))
      << "it must not do for a server";
}

TEST(Reconcile, StartsFromNothing) {
  const Bundle fresh = at(std::nullopt, kStart);
  expect_serves(fresh, kStart);
  EXPECT_EQ(fresh.previous_ca_pem, "");
  const auto ca = *validity_of(fresh.ca.certificate_pem);
  const auto leaf = *validity_of(fresh.leaf.certificate_pem);
  EXPECT_EQ(ca.not_before, kStart - minutes(5));
  EXPECT_EQ(ca.not_after, kStart + 3650 * kDay);
  EXPECT_EQ(leaf.not_before, kStart - minutes(5));
  EXPECT_EQ(leaf.not_after, kStart + 90 * kDay);
  expect_client(fresh);
}

TEST(Reconcile, TheClientsCertificateChangesWithTheCaAndOtherwiseOnDemand) {
  const Bundle fresh = at(std::nullopt, kStart);
  EXPECT_EQ(at(fresh, kStart + 1000 * kDay).client, fresh.client);
  const Bundle next = at(fresh, kStart + 3470 * kDay);
  ASSERT_NE(next.ca, fresh.ca);
  EXPECT_NE(next.client, fresh.client) << "at once, with the CA that both sides trust by then";
  expect_client(next);
  const Bundle stranger = at(std::nullopt, kStart);
  const std::vector<std::pair<const char*, KeyPair>> damages{
      {"none, as in an earlier version", {}},
      {"no key", {fresh.client.certificate_pem, ""}},
      {"key of another", {fresh.client.certificate_pem, stranger.client.key_pem}},
      {"of another CA", stranger.client},
  };
  for (const auto& [what, client] : damages) {
    Bundle damaged = fresh;
    damaged.client = client;
    const Bundle mended = at(damaged, kStart + kDay);
    expect_client(mended);
    EXPECT_NE(mended.client, client) << what;
    EXPECT_EQ(mended.ca, fresh.ca) << what;
    EXPECT_EQ(mended.leaf, fresh.leaf) << what;
    EXPECT_EQ(at(mended, kStart + kDay), mended) << what << ": not settled";
  }
}

struct DueCase {
  const char* what;
  Duration later;
  bool leaf_renewed;
  bool ca_renewed;
};

TEST(Reconcile, RenewsTheLeafAtTwoThirdsAndTheCaTwoLeafLivesBeforeItsEnd) {
  const Bundle fresh = at(std::nullopt, kStart);
  // The leaf's life counts from five minutes before kStart.
  const Duration life = 90 * kDay + minutes(5);
  const Duration two_thirds = life / 3 * 2 - minutes(5);
  const std::vector<DueCase> cases{
      {"at once", Duration::zero(), false, false},
      {"a day later", kDay, false, false},
      {"just before two thirds", two_thirds - seconds(1), false, false},
      {"at two thirds", two_thirds, true, false},
      {"after the leaf's end", 100 * kDay, true, false},
      {"just before the CA is due", 3470 * kDay - seconds(1), true, false},
      {"when the CA is due", 3470 * kDay, true, true},
      {"after the CA's end", 4000 * kDay, true, true},
  };
  for (const DueCase& c : cases) {
    const TimePoint now = kStart + c.later;
    const Bundle next = at(fresh, now);
    EXPECT_EQ(next.leaf != fresh.leaf, c.leaf_renewed) << c.what;
    EXPECT_EQ(next.ca != fresh.ca, c.ca_renewed) << c.what;
    if (!c.leaf_renewed && !c.ca_renewed) {
      EXPECT_EQ(next, fresh) << c.what;
    }
    expect_serves(next, now);
    EXPECT_EQ(at(next, now), next) << c.what << ": not settled";
  }
}

TEST(Reconcile, RenewsTheLeafWhenItsNamesDiffer) {
  const Bundle fresh = at(std::nullopt, kStart);
  struct Case {
    const char* what;
    std::function<void(Policy&)> change;
    bool renewed;
  };
  const std::vector<Case> cases{
      {"name added", [](Policy& p) { p.dns_names.emplace_back("other"); }, true},
      {"name removed", [](Policy& p) { p.dns_names.pop_back(); }, true},
      {"address changed", [](Policy& p) { p.ip_addresses[0] = "10.0.0.8"; }, true},
      {"order and repetition",
       [](Policy& p) {
         std::swap(p.dns_names[0], p.dns_names[1]);
         p.dns_names.push_back(p.dns_names[0]);
       },
       false},
      {"an address written otherwise", [](Policy& p) { p.ip_addresses[1] = "fd00:0:0::7"; }, false},
  };
  for (const Case& c : cases) {
    Policy p = policy();
    c.change(p);
    const Bundle next = at(fresh, kStart + kDay, p);
    EXPECT_EQ(next.leaf != fresh.leaf, c.renewed) << c.what;
    EXPECT_EQ(next.ca, fresh.ca) << c.what;
    EXPECT_EQ(at(next, kStart + kDay, p), next) << c.what << ": not settled";
  }
}

TEST(Reconcile, ChangesTheCaWithoutAMomentOfDistrust) {
  const Bundle fresh = at(std::nullopt, kStart);
  const TimePoint due = kStart + 3470 * kDay;
  // A leaf that is young when the CA comes due.
  const Bundle before = at(fresh, due - kDay);
  ASSERT_EQ(before.ca, fresh.ca);

  const Bundle first = at(before, due);
  EXPECT_NE(first.ca, before.ca);
  EXPECT_EQ(first.previous_ca_pem, before.ca.certificate_pem);
  EXPECT_EQ(first.previous_ca_until, due + kDay);
  EXPECT_EQ(first.leaf, before.leaf) << "those who know only the old CA still must trust us";
  expect_serves(first, due);

  EXPECT_EQ(at(first, due + hours(12) - seconds(1)), first);
  const Bundle second = at(first, due + hours(12));
  EXPECT_NE(second.leaf, first.leaf);
  EXPECT_TRUE(verify(second.leaf, second.ca.certificate_pem, policy().dns_names, due + hours(12)));
  EXPECT_TRUE(verify(first.leaf, second.trust_pem(due + hours(12)), {}, due + hours(12)))
      << "a replica that lags behind is still trusted";

  EXPECT_EQ(at(second, due + kDay - seconds(1)), second);
  const Bundle third = at(second, due + kDay);
  EXPECT_EQ(third.previous_ca_pem, "");
  EXPECT_EQ(third.previous_ca_until, TimePoint{});
  EXPECT_EQ(third.leaf, second.leaf);
  EXPECT_EQ(third.ca, second.ca);
}

TEST(Reconcile, TrustEndsWithTheOverlapEvenWhenNothingIsStored) {
  const Bundle fresh = at(std::nullopt, kStart);
  const TimePoint due = kStart + 3470 * kDay;
  const Bundle changed = at(fresh, due);
  EXPECT_THAT(changed.trust_pem(due), HasSubstr(fresh.ca.certificate_pem));
  EXPECT_EQ(changed.trust_pem(due + kDay), changed.ca.certificate_pem);
}

TEST(Reconcile, StartsAnewFromACorruptedBundle) {
  const Bundle fresh = at(std::nullopt, kStart);
  const Bundle stranger = at(std::nullopt, kStart);
  struct Case {
    const char* what;
    std::function<void(Bundle&)> damage;
    bool ca_renewed;
    bool leaf_renewed;
  };
  const std::vector<Case> cases{
      {"empty", [](Bundle& b) { b = {}; }, true, true},
      {"CA certificate", [](Bundle& b) { b.ca.certificate_pem = "nonsense"; }, true, true},
      {"CA cut", [](Bundle& b) { b.ca.certificate_pem.resize(80); }, true, true},
      {"CA key cut", [](Bundle& b) { b.ca.key_pem.resize(60); }, true, false},
      {"CA key of another", [&](Bundle& b) { b.ca.key_pem = stranger.ca.key_pem; }, true, false},
      {"a leaf as CA", [](Bundle& b) { b.ca = b.leaf; }, true, true},
      {"leaf certificate", [](Bundle& b) { b.leaf.certificate_pem = "x"; }, false, true},
      {"leaf key", [](Bundle& b) { b.leaf.key_pem.clear(); }, false, true},
      {"leaf key of another", [&](Bundle& b) { b.leaf.key_pem = stranger.leaf.key_pem; }, false,
       true},
      {"leaf of another CA", [&](Bundle& b) { b.leaf = stranger.leaf; }, false, true},
      {"previous CA",
       [](Bundle& b) {
         b.previous_ca_pem = "x";
         b.previous_ca_until = kStart + 300 * kDay;
       },
       false, false},
  };
  const TimePoint now = kStart + hours(1);
  for (const Case& c : cases) {
    Bundle damaged = fresh;
    c.damage(damaged);
    const Bundle mended = at(damaged, now);
    EXPECT_EQ(mended.ca.key_pem != fresh.ca.key_pem, c.ca_renewed) << c.what;
    EXPECT_EQ(mended.leaf != fresh.leaf, c.leaf_renewed) << c.what;
    expect_serves(mended, now);
    EXPECT_EQ(at(mended, now), mended) << c.what << ": not settled";
  }
}

TEST(Reconcile, ABadPolicyIsInvalid) {
  struct Case {
    const char* what;
    std::function<void(Policy&)> spoil;
    const char* message;
  };
  const std::vector<Case> cases{
      {"no names",
       [](Policy& p) {
         p.dns_names.clear();
         p.ip_addresses.clear();
       },
       "at least one DNS name"},
      {"no life", [](Policy& p) { p.leaf_life = {}; }, "leaf life must be positive"},
      {"negative overlap", [](Policy& p) { p.overlap = -seconds(1); }, "overlap"},
      {"CA too short", [](Policy& p) { p.ca_life = 180 * kDay; }, "longer than two leaf lives"},
      {"bad address", [](Policy& p) { p.ip_addresses = {"x"}; }, "\"x\" is not an IP address"},
  };
  for (const Case& c : cases) {
    Policy p = policy();
    c.spoil(p);
    const auto result = reconcile(std::nullopt, p, kStart);
    ASSERT_FALSE(result) << c.what;
    EXPECT_EQ(result.error().kind, base::ErrorKind::Invalid) << c.what;
    EXPECT_THAT(result.error().message, HasSubstr(c.message)) << c.what;
  }
}

// Nobody who read the trusted CAs half an overlap ago is left with a leaf that he does not trust.
TEST(Reconcile, LeadsThroughFiveYearsWithoutAGap) {
  Policy p = policy();
  p.ca_life = 700 * kDay;
  p.overlap = 20 * kDay;
  const auto step = p.overlap / 2;
  Bundle bundle = at(std::nullopt, kStart, p);
  int ca_changes = 0;
  for (TimePoint now = kStart + step; now < kStart + 1830 * kDay; now += step) {
    const Bundle next = at(bundle, now, p);
    EXPECT_TRUE(verify(next.leaf, bundle.trust_pem(now - step), p.dns_names, now));
    ca_changes += next.ca != bundle.ca ? 1 : 0;
    bundle = next;
  }
  EXPECT_EQ(ca_changes, 3);
}

}  // namespace
}  // namespace millwright::certs
