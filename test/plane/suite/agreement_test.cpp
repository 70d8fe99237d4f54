// The CRDs and our own validation say the same: every object of test/data/admission goes through
// the real API server with the CRDs alone, and through the schema's description.

#include "millwright/schema/schema.hpp"
#include "plane/suite/fixture.hpp"
#include "unit/schema/admission_cases.hpp"

#include <boost/json.hpp>

#include <sstream>

namespace millwright::plane {
namespace {

using test::AdmissionCase;

class Agreement : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto started = Plane::start();
    ASSERT_TRUE(started.has_value()) << started.error().message;
    plane_ = *std::move(started);
    const auto applied = apply_crds(*plane_);
    ASSERT_TRUE(applied.has_value()) << applied.error().message;
  }
  static void TearDownTestSuite() { plane_.reset(); }
  void SetUp() override { ASSERT_NE(plane_, nullptr); }

  inline static std::unique_ptr<Plane> plane_;
};

const schema::Kind& kind_of(const json::value& object) {
  const auto* kind = schema::find_kind(text_at(object, "/apiVersion"), text_at(object, "/kind"));
  if (kind == nullptr) {
    throw std::runtime_error("an object of an unknown kind");
  }
  return *kind;
}

std::string path_of(const json::value& object, bool named) {
  const auto& resource = schema::resource_of(kind_of(object));
  return resource.path(resource.namespaced ? "default" : "",
                       named ? text_at(object, "/metadata/name") : std::string());
}

json::value with_version(json::value object, const json::value& stored) {
  object.at("metadata").as_object()["resourceVersion"] =
      stored.at("metadata").at("resourceVersion");
  return object;
}

struct Verdict {
  bool accepted = false;
  std::string said;
};

Verdict verdict_of(const Answer& answer) {
  EXPECT_THAT(answer.status, testing::AnyOf(200, 201, 400, 409, 422)) << "that is no verdict";
  return {.accepted = answer.status == 200 || answer.status == 201,
          .said = std::to_string(answer.status) + " " + text_at(answer.body, "/message")};
}

// The status is a subresource: on creation the server ignores it, so it is written afterwards.
Verdict ask_about_status(Plane& plane, const AdmissionCase& test_case) {
  json::value object = test_case.object;
  const Answer created = plane.call("POST", path_of(object, false), object);
  if (created.status != 201) {
    return verdict_of(created);
  }
  const std::string path = path_of(object, true);
  const Verdict verdict = verdict_of(
      plane.call("PUT", path + "/status?dryRun=All", with_version(object, created.body)));
  plane.call("DELETE", path);
  return verdict;
}

// Stores an object that the CRD no longer allows, as one from an older version's days.
Answer create_unchecked(Plane& plane, const json::value& object) {
  const auto& resource = schema::resource_of(kind_of(object));
  const std::string crd = model::kCrdResource.path(
      {}, std::string(resource.plural) + "." + std::string(resource.group));
  const json::value anything{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  const std::string field = "/spec/versions/0/schema/openAPIV3Schema";
  const json::value strict = schema::crd(kind_of(object)).at_pointer(field);
  const auto set = [&](const json::value& value) {
    plane.call("PATCH", crd, {{{"op", "replace"}, {"path", field}, {"value", value}}},
               "application/json-patch+json");
  };
  set(anything);
  Answer created;
  wait_until(seconds(20), [&] {
    created = plane.call("POST", path_of(object, false), object);
    return created.status == 201;
  });
  set(strict);
  wait_until(seconds(20), [&] {
    json::value other = object;
    other.at("metadata").as_object()["name"] = "other";
    return plane.call("POST", path_of(other, false) + "?dryRun=All", other).status == 422;
  });
  return created;
}

// What the API server says to the case, which leaves nothing behind.
Verdict ask_server(Plane& plane, const AdmissionCase& test_case) {
  if (!test_case.old) {
    const Verdict verdict = verdict_of(
        plane.call("POST", path_of(test_case.object, false) + "?dryRun=All", test_case.object));
    const bool has_status = test_case.object.as_object().contains("status");
    return verdict.accepted && has_status ? ask_about_status(plane, test_case) : verdict;
  }
  Answer created = plane.call("POST", path_of(*test_case.old, false), *test_case.old);
  if (created.status == 422) {
    created = create_unchecked(plane, *test_case.old);
  }
  const std::string path = path_of(*test_case.old, true);
  const Verdict verdict = verdict_of(
      plane.call("PUT", path + "?dryRun=All", with_version(test_case.object, created.body)));
  plane.call("DELETE", path);
  return verdict;
}

// The same from the description that the CRDs are made from.
Verdict ask_schema(const AdmissionCase& test_case) {
  const auto& kind = kind_of(test_case.object);
  json::value object = test_case.object;
  std::optional<json::value> old = test_case.old;
  schema::prune(kind, object);
  schema::apply_defaults(kind, object);
  if (old) {
    schema::apply_defaults(kind, *old);
  }
  Verdict verdict{.accepted = true, .said = {}};
  for (const auto& problem : schema::validate_structure(kind, object, old ? &*old : nullptr)) {
    verdict.accepted = false;
    verdict.said += problem.to_string() + "; ";
  }
  return verdict;
}

TEST_F(Agreement, OnEveryInvalidObject) {
  for (const auto& test_case : test::invalid_admission_cases()) {
    const Verdict server = ask_server(*plane_, test_case);
    const Verdict ours = ask_schema(test_case);
    EXPECT_EQ(server.accepted, ours.accepted)
        << test_case.name << "\n  API server: " << server.said << "\n  schema: " << ours.said;
  }
}

TEST_F(Agreement, OnEveryValidObject) {
  for (const auto& test_case : test::admission_cases("valid.yaml")) {
    const Verdict server = ask_server(*plane_, test_case);
    EXPECT_TRUE(server.accepted) << test_case.name << "\n  API server: " << server.said;
  }
}

// What kubectl prints with -o json for several objects, without the warnings in between.
std::vector<json::value> objects_of(const std::string& text) {
  std::vector<json::value> objects;
  std::istringstream lines(text);
  std::string object;
  for (std::string line; std::getline(lines, line);) {
    object = line == "{" ? line : object.empty() ? object : object + line;
    if (line == "}") {
      objects.push_back(json::parse(std::exchange(object, {})));
    }
  }
  return objects;
}

// kubectl is strict about unknown fields, and prints what the server would store.
TEST_F(Agreement, OnWhatIsStored) {
  json::array sent;
  for (const auto& test_case : test::admission_cases("valid.yaml")) {
    if (!test_case.old) {
      sent.push_back(test_case.object);
    }
  }
  const json::object list{{"apiVersion", "v1"}, {"kind", "List"}, {"items", sent}};
  const Output printed =
      plane_->kubectl({"create", "--dry-run=server", "--validate=strict", "-o", "json", "-f", "-"},
                      json::serialize(list));
  ASSERT_EQ(printed.exit_code, 0) << printed.text;
  const auto stored = objects_of(printed.text);
  ASSERT_EQ(stored.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    json::value expected = sent[i];
    schema::apply_defaults(kind_of(expected), expected);
    const auto* spec = expected.as_object().if_contains("spec");
    const auto* stored_spec = stored[i].as_object().if_contains("spec");
    const bool same =
        spec == nullptr ? stored_spec == nullptr : stored_spec != nullptr && *spec == *stored_spec;
    EXPECT_TRUE(same) << "sent, with our defaults: " << json::serialize(expected)
                      << "\nstored: " << json::serialize(stored[i]);
  }
}

}  // namespace
}  // namespace millwright::plane
