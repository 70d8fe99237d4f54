// The drift hash of EC2NodeClasses against values of Karpenter's AWS provider. The file of vectors
// is checked with that provider's own library by test/nodeclass.
#include "cloud/aws/node_class/node_class_hash.hpp"

#include "cloud/aws/node_class/kubelet_text.hpp"
#include "millwright/model/codec.hpp"
#include "unit/cloud/aws/catalog/catalog_fixture.hpp"
#include "unit/cloud/aws/fakes/fake_http.hpp"

#include <boost/json.hpp>

#include <set>

namespace millwright::cloud::aws {
namespace {

std::string hash_of(const boost::json::value& vector, HashVersion version) {
  return node_class_hash(*node_class(vector.at("spec")), model::text_at(vector, "caBundle"),
                         version);
}

TEST(NodeClassHash, EqualsKarpenters) {
  const auto vectors = model::parse_json(read_test_data("node_class_hashes.json"));
  ASSERT_TRUE(vectors) << vectors.error().message;
  ASSERT_FALSE(vectors->as_array().empty());
  for (const auto& vector : vectors->as_array()) {
    const auto name = model::text_at(vector, "name");
    if (vector.as_object().contains("v5")) {
      EXPECT_EQ(hash_of(vector, HashVersion::V5), model::text_at(vector, "v5")) << name;
    }
    EXPECT_EQ(hash_of(vector, HashVersion::V6), model::text_at(vector, "v6")) << name;
  }
}

// Releases after the one that the vectors were checked with have them; earlier ones drop them.
TEST(NodeClassHash, EnclavesCountFromV6On) {
  const auto hash = [](const boost::json::object& more, HashVersion version) {
    boost::json::object spec{{"amiFamily", "AL2023"}, {"role", "r"}};
    spec.insert(more.begin(), more.end());
    return node_class_hash(*node_class(spec), "", version);
  };
  const boost::json::object on{{"enclaveOptions", {{"enabled", true}}}};
  const boost::json::object off{{"enclaveOptions", {{"enabled", false}}}};
  const std::set<std::string> different{hash({}, HashVersion::V6), hash(on, HashVersion::V6),
                                        hash(off, HashVersion::V6)};
  EXPECT_EQ(different.size(), 3U);
  EXPECT_EQ(hash(on, HashVersion::V5), hash({}, HashVersion::V5));
}

// Such objects the API server does not let in; they must do no harm.
TEST(NodeClassHash, ValuesOfAWrongTypeAreAsAbsent) {
  const boost::json::value good{{"amiFamily", "AL2023"}};
  const auto plain = node_class_hash(*node_class(good), "", HashVersion::V5);
  for (const std::string_view bad :
       {R"({"tags":[]})", R"({"tags":7})", R"({"userData":{}})", R"({"role":true})",
        R"({"detailedMonitoring":"yes"})", R"({"blockDeviceMappings":{}})",
        R"({"metadataOptions":"none"})", R"({"kubelet":[1]})", R"({"instanceProfile":1.5})"}) {
    auto spec = model::parse_json(bad).value();
    spec.as_object()["amiFamily"] = "AL2023";
    EXPECT_EQ(node_class_hash(*node_class(spec), "", HashVersion::V5), plain) << bad;
  }
  for (const std::string_view odd :
       {R"({"blockDeviceMappings":[null,7,{"ebs":{"volumeSize":"much","iops":1e30}}]})",
        R"({"kubelet":{"maxPods":99999999999,"clusterDNS":[null,5],"kubeReserved":{"cpu":1}}})",
        R"({"amiFamily":5,"amiSelectorTerms":[{"alias":"@"},{"alias":7},null]})"}) {
    EXPECT_FALSE(
        node_class_hash(*node_class(model::parse_json(odd).value()), "", HashVersion::V5).empty());
  }
  EXPECT_FALSE(node_class_hash(*node_class(nullptr), "", HashVersion::V6).empty());
}

TEST(KubeletText, IsWhatGoWrites) {
  const auto text = [](std::string_view spec) {
    return kubelet_text(model::parse_json(spec).value());
  };
  EXPECT_EQ(text("{}"), "null");
  EXPECT_EQ(text(R"({"kubelet":null})"), "null");
  EXPECT_EQ(text(R"({"kubelet":{}})"), "null");
  EXPECT_EQ(text(R"({"kubelet":{"b":{"d":[],"c":null},"a":[1,{},true]}})"),
            R"({"a":[1,{},true],"b":{"c":null,"d":[]}})");
  EXPECT_EQ(text(R"({"kubelet":{"n":[0.8,3.0,0.000001,1e-7,2.5e-12,1e20,1e21,-0.25]}})"),
            R"({"n":[0.8,3,0.000001,1e-7,2.5e-12,100000000000000000000,1e+21,-0.25]})");
  EXPECT_EQ(text(R"({"kubelet":{"<":"a&b>\u2028\u00e9\n\u0001\"\\/"}})"),
            "{\"\\u003c\":\"a\\u0026b\\u003e\\u2028\u00e9\\n\\u0001\\\"\\\\/\"}");
}

TEST(StaticDrift, IsReadFromTheClaimsHash) {
  const auto the_class = node_class({{"amiFamily", "AL2023"}});
  const auto stamp = hash_stamp(*the_class, "Q0E=");
  EXPECT_EQ(stamp.version, "v6");
  EXPECT_EQ(stamp.hash, node_class_hash(*the_class, "Q0E=", HashVersion::V6));
  EXPECT_NE(stamp.hash, hash_stamp(*the_class, "").hash) << "the CA bundle counts";
  model::NodeClaim claim;
  const auto drift = [&](const std::string& hash, const std::string& version) {
    claim.meta.annotations = {{std::string(kHashAnnotation), hash},
                              {std::string(kHashVersionAnnotation), version}};
    return static_drift(claim, stamp);
  };
  EXPECT_EQ(drift(stamp.hash, "v6"), "");
  EXPECT_EQ(drift("1", "v6"), "NodeClassDrift");
  EXPECT_EQ(drift("1", "v5"), "");
  EXPECT_EQ(drift("", "v6"), "");
  EXPECT_EQ(static_drift({}, stamp), "");
  // What a leader before us found stays until the claim has a hash that can be compared.
  claim.conditions = {{.type = "Drifted",
                       .status = model::ConditionStatus::True,
                       .reason = "AMIDrift",
                       .message = ""}};
  EXPECT_EQ(drift("1", "v5"), "AMIDrift");
  EXPECT_EQ(drift(stamp.hash, "v6"), "");
  claim.conditions[0].status = model::ConditionStatus::False;
  EXPECT_EQ(drift("1", "v5"), "");
}

}  // namespace
}  // namespace millwright::cloud::aws
