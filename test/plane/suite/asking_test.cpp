// Each command of docs/asking.md but --shadow (shadow_test.cpp) on a real API server, under the
// roles of `millwright install`; and what kubectl says of an edit. What is asked and answered is
// printed: the transcripts of the documentation are from here.
#include "millwright/base/base64.hpp"
#include "millwright/base/loop.hpp"
#include "millwright/net/client.hpp"
#include "plane/suite/fixture.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>

namespace millwright::plane {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::StartsWith;

class Asking : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    port_ = free_port();
    decisions_ = (std::filesystem::temp_directory_path() /
                  fmt::format("millwright-asking-{}.jsonl", getpid()))
                     .string();
    cluster_ =
        Cluster::start({.controller = {.flags = {fmt::format("--asking-port={}", port_),
                                                 "--console", "--decision-log=" + decisions_}}});
    if (cluster_ != nullptr) {
      allow_asking();
    }
  }
  static void TearDownTestSuite() {
    cluster_.reset();
    std::filesystem::remove(decisions_);
  }
  void SetUp() override { ASSERT_NE(cluster_, nullptr) << "the control plane is not up"; }

  // As docs/asking.md says: the roles of the installation, and one account that may ask.
  static void allow_asking() {
    auto objects = install_objects(cluster_->plane(), {"--no-crds", "--asking-port", "8445"});
    ASSERT_TRUE(objects.has_value()) << objects.error().message;
    for (const auto& object : *objects) {
      const std::string name = text_at(object, "/metadata/name");
      if (name == "millwright-asking" || name == "millwright-viewer") {
        cluster_->apply(json::serialize(object));
      }
    }
    for (const std::string account : {"viewer", "stranger"}) {
      cluster_->kubectl({"create", "serviceaccount", account});
      write_text(token_file(account), cluster_->kubectl({"create", "token", account}));
    }
    cluster_->kubectl({"create", "clusterrolebinding", "viewers", "--clusterrole=millwright-viewer",
                       "--serviceaccount=default:viewer"});
    // What `record` and the console's what-if read.
    cluster_->apply(install_text(cluster_->plane(), {"--part=reader"}).value_or(""));
    cluster_->kubectl({"create", "clusterrolebinding", "readers", "--clusterrole=millwright-reader",
                       "--serviceaccount=default:viewer"});
    write_text(ca_file(),
               base::decode_base64(cluster_->controller().certificate("ca.crt")).value_or(""));
  }
  static std::string token_file(const std::string& account) {
    return cluster_->plane().directory() + "/" + account + ".token";
  }
  static std::string ca_file() { return cluster_->plane().directory() + "/asking-ca.crt"; }

  static std::vector<std::string> server() {
    return {fmt::format("--server=https://localhost:{}", port_),
            "--certificate-authority=" + ca_file()};
  }
  static void tell(const std::vector<std::string>& arguments, const std::string& said) {
    std::puts(fmt::format("$ millwright {}\n{}", fmt::join(arguments, " "), said).c_str());
  }
  static Output run(const std::vector<std::string>& arguments) {
    Output output = run_millwright(cluster_->plane(), arguments);
    tell(arguments, output.text);
    return output;
  }
  static Output ask(std::vector<std::string> arguments, const std::string& account) {
    for (const auto& each : server()) {
      arguments.push_back(each);
    }
    arguments.push_back("--token-file=" + token_file(account));
    return run(arguments);
  }
  // Of the running program and of what it wrote to its record: once both say the same, since it may
  // decide between the two questions.
  static std::string why(const std::string& kind, const std::string& name) {
    auto words = server();
    words.insert(words.begin(), {"why", kind, name});
    words.push_back("--token-file=" + token_file("viewer"));
    Output asked;
    Output recorded;
    wait_until(seconds(10), [&] {
      asked = run_millwright(cluster_->plane(), words);
      recorded =
          run_millwright(cluster_->plane(), {"why", kind, name, "--decisions=" + decisions_});
      return asked.text == recorded.text;
    });
    tell(words, asked.text);
    EXPECT_EQ(asked.exit_code, 0);
    EXPECT_EQ(recorded.text, asked.text);
    return asked.text;
  }

  // Starts a command and waits until it has said `text`.
  static std::unique_ptr<Process> start(const std::vector<std::string>& arguments,
                                        const std::string& text) {
    auto process = start_millwright(cluster_->plane(), arguments);
    EXPECT_TRUE(process) << process.error().message;
    if (!process) {
      return nullptr;
    }
    EXPECT_TRUE(wait_until(seconds(30), [&] {
      return !(*process)->running() || (*process)->log_text().find(text) != std::string::npos;
    }));
    EXPECT_THAT((*process)->log_text(), HasSubstr(text));
    return *std::move(process);
  }
  // As by Ctrl-C.
  static void interrupt(Process& process) {
    process.signal(SIGINT);
    EXPECT_EQ(process.wait(milliseconds(20'000)), 0) << process.log_text();
    tell(process.spec().arguments, process.log_text());
  }

  // What docs/asking.md has `kubectl get` write for what-if, with kwok's NodeClasses.
  static std::vector<std::string> cluster_files() {
    std::vector<std::string> words{"what-if"};
    for (const std::string kinds : {"nodes,nodepools,nodeclaims,kwoknodeclasses,pods,pdb",
                                    "deployments,replicasets,statefulsets,daemonsets,jobs",
                                    "pv,pvc,storageclasses,priorityclasses"}) {
      const std::string file =
          fmt::format("{}/whatif-{}.json", cluster_->plane().directory(), words.size());
      write_text(file, cluster_->kubectl({"get", "-A", "-o", "json", kinds}));
      words.insert(words.end(), {"-f", file});
    }
    return words;
  }
  static std::string what_if(std::vector<std::string> files,
                             const std::vector<std::string>& change) {
    files.insert(files.end(), change.begin(), change.end());
    const Output told = run(files);
    EXPECT_EQ(told.exit_code, 0);
    EXPECT_THAT(told.text, AllOf(StartsWith("Looked "), HasSubstr("without the changes")));
    return told.text;
  }

  inline static int port_ = 0;
  inline static std::string decisions_;
  inline static std::unique_ptr<Cluster> cluster_;
};

TEST_F(Asking, TopAndWhyTellThoseWhoMaySeeIt) {
  cluster_->apply(node_pool("shown", "Never"));
  cluster_->apply(deployment({.name = "shop", .replicas = 6, .pool = "shown"}));
  cluster_->wait_running("shop", 6);
  cluster_->apply(deployment(
      {.name = "stuck",
       .replicas = 2,
       .pod_spec =
           "      nodeSelector: {karpenter.sh/nodepool: shown, kubernetes.io/arch: s390x}\n"}));
  const std::string node = text_at(cluster_->nodes("shown").at(0), "/metadata/name");
  const auto top_words = [] {
    auto words = server();
    words.insert(words.begin(), {"top", "--once"});
    words.push_back("--token-file=" + token_file("viewer"));
    return words;
  };
  Output top;
  cluster_->wait("top shows the pods that wait", seconds(30), [&] {
    top = run_millwright(cluster_->plane(), top_words());
    return top.text.find("s390x") != std::string::npos;
  });
  tell(top_words(), top.text);
  EXPECT_EQ(top.exit_code, 0);
  EXPECT_THAT(top.text, AllOf(HasSubstr(node), HasSubstr("Ready"), HasSubstr("6 pods on nodes"),
                              HasSubstr("2 waiting")));

  const auto pod = [](const std::string& app) {
    return "default/" + text_at(cluster_->pods(app).at(0), "/metadata/name");
  };
  EXPECT_THAT(why("pod", pod("stuck")),
              AllOf(HasSubstr("has no place: NodePool shown: wanted kubernetes.io/arch In [s390x]"),
                    HasSubstr("  Change   remove kubernetes.io/arch from its node selector")));
  EXPECT_THAT(why("pod", pod("shop")),
              AllOf(HasSubstr("was bought: NodeClaim shown-"),
                    HasSubstr("  Next     kubectl describe nodeclaim shown-")));
  EXPECT_THAT(why("node", node),
              AllOf(HasSubstr("Node " + node), HasSubstr("  Bought   "), HasSubstr("  For      ")));
  EXPECT_THAT(why("nodepool", "shown"),
              HasSubstr("NodePool shown: 1 node bought for $0.217/h, 0 removals that save $0/h"));
  const Output unknown = ask({"why", "pod", "shop/none"}, "viewer");
  EXPECT_EQ(unknown.exit_code, 1);
  EXPECT_THAT(unknown.text, HasSubstr("  Next     kubectl describe pod -n shop none"));

  const Output refused = ask({"top", "--once"}, "stranger");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.text, AllOf(HasSubstr("403"), HasSubstr("default:stranger")));
  cluster_->kubectl({"delete", "deployment", "stuck"});
  cluster_->clean_up("shop", "shown");
}

TEST_F(Asking, WhatIfTellsWhatEachChangeWouldDo) {
  const std::string pool = node_pool("asked", "30s");
  cluster_->apply(pool);
  cluster_->apply(deployment({.name = "web", .replicas = 6, .pool = "asked"}));
  cluster_->wait_running("web", 6);
  const auto node = cluster_->nodes("asked").at(0);
  const std::string type = text_at(node, "/metadata/labels/node.kubernetes.io~1instance-type");
  const std::string zone = text_at(node, "/metadata/labels/topology.kubernetes.io~1zone");
  const auto files = cluster_files();

  EXPECT_THAT(what_if(files, {"drain", text_at(node, "/metadata/name")}),
              AllOf(HasSubstr("Moved:"), HasSubstr("ReplicaSet default/web-")));
  EXPECT_THAT(what_if(files, {"scale", "deployment/web=20"}),
              AllOf(HasSubstr("Bought:"), HasSubstr("20 after: ")));
  EXPECT_THAT(what_if(files, {"price", type + "=9.5"}), HasSubstr("Bought:"));
  EXPECT_THAT(what_if(files, {"zone-out", zone}), HasSubstr("zone out"));
  const std::string edited = cluster_->plane().directory() + "/edited.yaml";
  write_text(edited, node_pool("asked", "30s", "  limits: {cpu: 10}\n"));
  EXPECT_THAT(what_if(files, {"apply", "-f", edited, "scale", "deployment/web=20"}),
              AllOf(HasSubstr("it would exceed limits.cpu (10)"), HasSubstr("(tried out: ")));
  cluster_->clean_up("web", "asked");
}

TEST_F(Asking, ARecordingOfTheClusterIsReplayed) {
  cluster_->apply(node_pool("recorded", "5s"));
  const auto kubeconfig = cluster_->plane().kubeconfig_of_account("default", "viewer");
  ASSERT_TRUE(kubeconfig) << kubeconfig.error().message;
  const std::string day = cluster_->plane().directory() + "/day.jsonl";
  // Long enough for the replay's machines, which boot as the simulated cloud's do.
  const auto recorder =
      start({"record", "--output=" + day, "--kubeconfig=" + *kubeconfig, "--duration=20s"},
            "Everything is listed; recording what happens for 20s");
  ASSERT_NE(recorder, nullptr);
  cluster_->apply(deployment({.name = "day", .replicas = 6, .pool = "recorded"}));
  cluster_->wait_running("day", 6);
  EXPECT_EQ(recorder->wait(milliseconds(40'000)), 0);
  tell(recorder->spec().arguments, recorder->log_text());
  EXPECT_THAT(recorder->log_text(),
              AllOf(ContainsRegex("Recorded [0-9]+ lines, [0-9.]+ MB, until --duration was over"),
                    HasSubstr("Next: millwright replay " + day)));
  const Output replayed = run({"replay", day});
  EXPECT_EQ(replayed.exit_code, 0);
  EXPECT_THAT(replayed.text, AllOf(StartsWith("Replayed "), HasSubstr("NodeClaims made"),
                                   ContainsRegex("pods that came +6 +6"),
                                   ContainsRegex("never got a node +0 +0")));
  cluster_->clean_up("day", "recorded");
}

// The page in a browser: test/console/commands_test.py, on the sandbox.
TEST_F(Asking, TheConsoleIsServedWithTheRightsOfTheUserUntilItIsInterrupted) {
  cluster_->apply(node_pool("paged", "Never"));
  cluster_->apply(deployment({.name = "page", .replicas = 3, .pool = "paged"}));
  cluster_->wait_running("page", 3);
  const auto kubeconfig = cluster_->plane().kubeconfig_of_account("default", "viewer");
  ASSERT_TRUE(kubeconfig) << kubeconfig.error().message;
  auto words = server();
  words.insert(words.begin(), "console");
  words.push_back("--kubeconfig=" + *kubeconfig);
  const auto console = start(words, "Ctrl-C ends it.");
  ASSERT_NE(console, nullptr);
  const std::string said = console->log_text();
  const auto begin = said.find("http://127.0.0.1:");
  const auto end = said.find("/console/");
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos) << said;
  base::RealLoop loop;  // never run: the client is only used blocking
  const auto client = net::make_client(loop);
  const auto get = [&](const std::string& path) -> std::string {
    net::ClientRequest request;
    request.url = said.substr(begin, end - begin) + path;
    const auto response = client->send_blocking(std::move(request));
    return response ? response->body : std::string();
  };
  EXPECT_THAT(get("/console/"), HasSubstr("<title>Millwright console</title>"));
  EXPECT_THAT(get("/cluster"),
              HasSubstr(text_at(cluster_->nodes("paged").at(0), "/metadata/name")));
  EXPECT_THAT(get("/what-if?change=scale%20deployment%2Fpage%3D12"),
              AllOf(StartsWith("Looked "), HasSubstr("12 after: ")));
  interrupt(*console);
  EXPECT_EQ(get("/console/"), "") << "the port is free again";

  words.back() = "--token-file=" + token_file("stranger");
  const Output refused = run(words);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.text, HasSubstr("403"));
  cluster_->clean_up("page", "paged");
}

TEST_F(Asking, ApplyTellsWhatAnEditReplaces) {
  cluster_->apply(node_pool("edited", "Never"));
  cluster_->apply(deployment({.name = "edited", .replicas = 3, .pool = "edited"}));
  cluster_->wait_running("edited", 3);
  const std::size_t nodes = cluster_->nodes("edited").size();
  const Output tried = cluster_->plane().kubectl(
      {"patch", "nodepool", "edited", "--type=merge", "--dry-run=server", "-p",
       R"({"spec": {"template": {"metadata": {"labels": {"team": "shop"}}}}})"});
  std::puts(tried.text.c_str());
  EXPECT_EQ(tried.exit_code, 0);
  EXPECT_THAT(tried.text, AllOf(HasSubstr(fmt::format("this drifts {} of {}", nodes, nodes)),
                                HasSubstr("stays about the same")));
  cluster_->clean_up("edited", "edited");
}

}  // namespace
}  // namespace millwright::plane
