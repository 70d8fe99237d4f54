#include "millwright/model/workload.hpp"

#include "millwright/model/codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tuple>

namespace millwright::model {
namespace {

// "3 at once", "3 in turn"; or the error.
std::string wants(std::string_view kind, std::string_view json) {
  const auto workload = decode_workload(kind, parse_json(json).value());
  if (!workload) {
    return workload.error().message;
  }
  return std::to_string(workload->pods) + (workload->at_once ? " at once" : " in turn");
}

struct Case {
  std::string_view json;
  std::string_view wanted;
};

TEST(Workload, ReplicaSetsWantTheirReplicas) {
  for (const auto& [json, wanted] : {
           Case{R"({})", "1 at once"},
           Case{R"({"spec": {"replicas": 3}})", "3 at once"},
           Case{R"({"spec": {"replicas": 0}})", "0 at once"},
           Case{R"({"spec": {"replicas": -4}})", "0 at once"},
           Case{R"({"spec": {"replicas": 3000000000}})", "100000 at once"},
           Case{R"({"spec": {"replicas": 3}, "metadata": {"deletionTimestamp":
                "2026-01-02T03:04:05Z"}})",
                "0 at once"},
           Case{R"({"spec": {"replicas": 3}, "status": {"conditions":
                [{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate"}]}})",
                "3 in turn"},
           Case{R"({"spec": {"replicas": 3}, "status": {"conditions":
                [{"type": "ReplicaFailure", "status": "False"}]}})",
                "3 at once"},
           Case{R"({"spec": {"replicas": 3, "podManagementPolicy": "OrderedReady"}})", "3 at once"},
       }) {
    EXPECT_EQ(wants("ReplicaSet", json), wanted) << json;
    EXPECT_EQ(wants("ReplicationController", json), wanted) << json;
  }
}

TEST(Workload, StatefulSetsMakeOnePodAfterAnotherUnlessParallel) {
  for (const auto& [json, wanted] : {
           Case{R"({})", "1 in turn"},
           Case{R"({"spec": {"replicas": 3}})", "3 in turn"},
           Case{R"({"spec": {"replicas": 3, "podManagementPolicy": "OrderedReady"}})", "3 in turn"},
           Case{R"({"spec": {"replicas": 3, "podManagementPolicy": "Parallel"}})", "3 at once"},
       }) {
    EXPECT_EQ(wants("StatefulSet", json), wanted) << json;
  }
}

// A Job that has begun, with these fields of spec and status.
std::string job(const std::string& spec, const std::string& status = "", int active = 4) {
  return R"({"spec": {)" + spec + R"(}, "status": {"startTime": "2026-01-02T03:04:05Z")" +
         (active == 0 ? "" : R"(, "active": )" + std::to_string(active)) +
         (status.empty() ? "" : ", " + status) + "}}";
}

std::string ended(const std::string& condition, const std::string& status = "True") {
  return R"("conditions": [{"type": ")" + condition + R"(", "status": ")" + status + R"("}])";
}

TEST(Workload, JobsWantWhatIsLeftToDo) {
  const std::string ten = R"("parallelism": 4, "completions": 10)";
  struct JobCase {
    std::string json;
    std::string_view wanted;
  };
  for (const auto& [json, wanted] : {
           JobCase{job(R"("completions": 1)"), "1 at once"},
           JobCase{job(ten), "4 at once"},
           JobCase{job(ten, R"("succeeded": 5)", 3), "4 at once"},
           JobCase{job(ten, R"("succeeded": 7)"), "3 at once"},
           JobCase{job(ten, R"("succeeded": 12)"), "0 at once"},
           JobCase{job(R"("parallelism": 0, "completions": 10)"), "0 at once"},
           JobCase{job(R"("parallelism": 2000000, "completions": 3000000)"), "100000 at once"},
           JobCase{
               job(R"("parallelism": 4, "completions": -9223372036854775808)", R"("succeeded": 1)"),
               "0 at once"},
           // failed pods come back with a growing delay
           JobCase{job(ten, R"("failed": 0)"), "4 at once"},
           JobCase{job(ten, R"("failed": 1)"), "4 in turn"},
           // and until they may, the Job says that none is active
           JobCase{job(ten, "", 0), "4 in turn"},
           JobCase{job(ten, R"("active": 0, "succeeded": 7)", 0), "3 in turn"},
           JobCase{job(ten, R"("succeeded": 10)", 0), "0 at once"},
           JobCase{job(R"("parallelism": 4)", "", 0), "4 in turn"},
           // pods that ended and are about to be added to the numbers
           JobCase{job(ten, R"("succeeded": 7, "uncountedTerminatedPods": {"succeeded": ["a"]})"),
                   "2 at once"},
           JobCase{job(ten, R"("uncountedTerminatedPods": {"failed": ["a"]})"), "4 in turn"},
           JobCase{job(ten, R"("uncountedTerminatedPods": {"failed": null})"), "4 at once"},
           // a pod that is being deleted is replaced at once, or when it is gone
           JobCase{job(ten, R"("terminating": 1)"), "4 at once"},
           JobCase{job(ten + R"(, "podReplacementPolicy": "Failed")"), "4 at once"},
           JobCase{job(ten + R"(, "podReplacementPolicy": "Failed")", R"("terminating": 1)"),
                   "4 in turn"},
           // a work queue
           JobCase{job(R"("parallelism": 4)"), "4 at once"},
           JobCase{job(R"("parallelism": 4)", R"("succeeded": 1)"), "0 at once"},
           JobCase{job(R"("parallelism": 4, "completions": null)"), "4 at once"},
           // its first pods are being created: it has no status before all of them are there
           JobCase{R"({"spec": {"parallelism": 4, "completions": 10}})", "4 at once"},
           JobCase{R"({"spec": {"parallelism": 4}, "status": {"startTime": null}})", "4 at once"},
           JobCase{R"({"spec": {"parallelism": 4, "suspend": true}})", "0 at once"},
           // paused, over
           JobCase{job(ten + R"(, "suspend": true)"), "0 at once"},
           JobCase{job(ten + R"(, "suspend": false)"), "4 at once"},
           JobCase{job(ten, ended("Complete")), "0 at once"},
           JobCase{job(ten, ended("Failed")), "0 at once"},
           JobCase{job(ten, ended("SuccessCriteriaMet")), "0 at once"},
           JobCase{job(ten, ended("FailureTarget")), "0 at once"},
           JobCase{job(ten, ended("Failed", "False")), "4 at once"},
           JobCase{job(ten, ended("Suspended", "True")), "4 at once"},
       }) {
    EXPECT_EQ(wants("Job", json), wanted) << json;
  }
}

TEST(Workload, IsToldByKindAndGroup) {
  for (const auto& [api_version, kind, is] : {
           std::tuple{"v1", "ReplicationController", true},
           std::tuple{"apps/v1", "ReplicaSet", true},
           std::tuple{"apps/v1", "StatefulSet", true},
           std::tuple{"batch/v1", "Job", true},
           std::tuple{"batch/v1beta1", "Job", true},
           std::tuple{"batch.volcano.sh/v1alpha1", "Job", false},
           std::tuple{"apps.kruise.io/v1beta1", "StatefulSet", false},
           std::tuple{"v1", "Job", false},
           std::tuple{"", "Job", false},
           std::tuple{"apps/v1", "DaemonSet", false},
       }) {
    EXPECT_EQ(is_workload({.api_version = api_version, .kind = kind}), is)
        << api_version << " " << kind;
  }
}

TEST(Workload, KeepsLittleOfTheMetadata) {
  const auto workload = decode_workload("ReplicaSet", parse_json(R"({"metadata": {"name": "web",
      "namespace": "shop", "uid": "u1", "resourceVersion": "7", "labels": {"a": "b"},
      "annotations": {"c": "d"}, "ownerReferences": [{"kind": "Deployment", "name": "web"}]}})")
                                                          .value())
                            .value();
  ObjectMeta meta;
  meta.name = "web";
  meta.namespace_ = "shop";
  meta.uid = "u1";
  meta.resource_version = "7";
  EXPECT_EQ(workload.meta, meta);
  EXPECT_EQ(workload.kind, "ReplicaSet");
}

TEST(Workload, RefusesWrongTypesAndOtherKinds) {
  using testing::HasSubstr;
  EXPECT_THAT(wants("ReplicaSet", R"({"spec": {"replicas": "3"}})"), HasSubstr("spec.replicas"));
  EXPECT_THAT(wants("Job", R"({"spec": {"suspend": 1}})"), HasSubstr("spec.suspend"));
  EXPECT_THAT(wants("Job", R"({"kind": "ReplicaSet"})"), HasSubstr("ReplicaSet"));
}

}  // namespace
}  // namespace millwright::model
