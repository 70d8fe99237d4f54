// Whose Secret is written, and whose is only read.
#include "millwright/controllers/process/certificates.hpp"

#include "millwright/base/base64.hpp"
#include "unit/kube/fake_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace millwright::controllers {
namespace {

namespace json = boost::json;
using kube::test::FakeStore;
using kube::test::FakeTransport;
using ::testing::HasSubstr;

constexpr const char* kPath = "/api/v1/namespaces/kube-system/secrets/millwright-certs";
constexpr const char* kHooksPath =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/millwright";

class CertificatesTest : public ::testing::Test {
 protected:
  CertificatesTest() {
    transport->answer = [this](const kube::ApiRequest& request) {
      writes += request.method == "GET" ? 0 : 1;
      return store.answer(request);
    };
  }

  base::Result<certs::Bundle> keep(bool supplied = false) {
    CertificateOptions options;
    options.supplied = supplied;
    options.policy.dns_names = {"millwright"};
    Certificates certificates(client, metrics, {}, options,
                              [this](const certs::Bundle& bundle) { handed_out = bundle; });
    return kube::test::run(loop, certificates.keep());
  }
  void put_secret(json::object data, json::object annotations = {}) {
    for (auto& field : data) {
      field.value() = base::encode_base64(std::string(field.value().as_string()));
    }
    store.objects[kPath] = json::object{{"apiVersion", "v1"},
                                        {"kind", "Secret"},
                                        {"metadata",
                                         {{"namespace", "kube-system"},
                                          {"name", "millwright-certs"},
                                          {"resourceVersion", "900"},
                                          {"annotations", std::move(annotations)}}},
                                        {"data", std::move(data)}};
  }
  // As somebody else would issue them.
  json::object issued() const {
    const certs::Validity life{kube::test::kStart - std::chrono::hours(1),
                               kube::test::kStart + std::chrono::hours(48)};
    const auto ca = *certs::make_ca("another CA", life);
    const auto leaf = *certs::make_leaf(ca, "m", {"millwright"}, {}, life);
    return {{"tls.crt", leaf.certificate_pem},
            {"tls.key", leaf.key_pem},
            {"ca.crt", ca.certificate_pem}};
  }

  base::VirtualLoop loop{kube::test::kStart};
  FakeStore store;
  std::shared_ptr<FakeTransport> transport = std::make_shared<FakeTransport>(loop);
  kube::Client client{loop, transport};
  base::Metrics metrics;
  int writes = 0;
  std::optional<certs::Bundle> handed_out;
};

TEST_F(CertificatesTest, AreMadeWhenThereAreNone) {
  ASSERT_TRUE(keep());
  EXPECT_TRUE(store.objects.contains(kPath));
  ASSERT_TRUE(handed_out);
  writes = 0;
  const auto again = keep();
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, *handed_out);
  EXPECT_EQ(writes, 0);
}

TEST_F(CertificatesTest, OfAPersonAreUsedAndNeverWritten) {
  const json::object data = issued();
  put_secret(data);
  const json::object hook{{"name", "w"}, {"clientConfig", json::object{{"caBundle", "old"}}}};
  store.objects[kHooksPath] =
      json::object{{"metadata", json::object{{"name", "millwright"}, {"resourceVersion", "1"}}},
                   {"webhooks", json::array{hook}}};
  const json::value before = store.objects[kPath];
  ASSERT_TRUE(keep());
  EXPECT_EQ(store.objects[kPath], before);
  ASSERT_TRUE(handed_out);
  EXPECT_EQ(handed_out->leaf.certificate_pem, std::string(data.at("tls.crt").as_string()));
  const std::string trusted = base::encode_base64(std::string(data.at("ca.crt").as_string()));
  EXPECT_THAT(json::serialize(store.objects[kHooksPath]), HasSubstr(trusted));
}

TEST_F(CertificatesTest, WithoutACaLeaveTheWebhooksAlone) {
  json::object data = issued();
  data.erase("ca.crt");
  put_secret(std::move(data));
  ASSERT_TRUE(keep());
  EXPECT_EQ(writes, 0);
}

// It leaves the fields alone that it does not know, so ours may still be there.
TEST_F(CertificatesTest, OfCertManagerAreNeverWritten) {
  json::object data = issued();
  data["ca.key"] = "that of an earlier CA";
  put_secret(std::move(data), {{"cert-manager.io/certificate-name", "millwright"}});
  ASSERT_TRUE(keep());
  EXPECT_EQ(writes, 0);
}

TEST_F(CertificatesTest, ThatAreToBeSuppliedAreWaitedFor) {
  const auto absent = keep(true);
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().message, HasSubstr("not there yet"));
  put_secret({{"tls.crt", ""}, {"tls.key", ""}});
  const auto empty = keep(true);
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("tls.crt"));
  EXPECT_EQ(writes, 0);
  EXPECT_FALSE(handed_out);
  put_secret(issued());
  EXPECT_TRUE(keep(true));
  EXPECT_EQ(writes, 0);
}

// Emptying the field asks for a new CA; the Secret stays ours.
TEST_F(CertificatesTest, OfOurOwnAreRenewedWhenTheCasKeyIsEmptied) {
  ASSERT_TRUE(keep());
  const certs::Bundle first = *handed_out;
  store.objects[kPath].at("data").as_object()["ca.key"] = "";
  ASSERT_TRUE(keep());
  EXPECT_NE(handed_out->ca, first.ca);
}

}  // namespace
}  // namespace millwright::controllers
