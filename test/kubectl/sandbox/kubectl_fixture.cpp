#include "kubectl/sandbox/kubectl_fixture.hpp"

#include "millwright/cloud/simulated.hpp"
#include "millwright/model/codec.hpp"

#include <boost/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>

namespace millwright::sandbox {

namespace {

constexpr double kSpeed = 20;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

bool has_kubectl() {
  return std::system("command -v kubectl >/dev/null 2>&1") == 0;  // NOLINT(concurrency-mt-unsafe)
}

// Takes the unregistered taint off, in place of the controller that is not part of this test.
void register_node(World& world, const Event& event) {
  if (event.change != Change::Added) {
    return;
  }
  const auto name = model::decode_meta(*event.object)->name;
  static_cast<void>(
      world.api().update(model::kNodeResource, {{}, name}, [](boost::json::value& node) {
        boost::json::array kept;
        for (const auto& taint : node.at("spec").at("taints").as_array()) {
          if (taint.at("key").as_string() != model::kUnregisteredTaint) {
            kept.push_back(taint);
          }
        }
        node.at("spec").as_object()["taints"] = kept;
      }));
}

}  // namespace

struct KubectlFixture::Cluster {
  base::RealLoop loop{kSpeed, base::system_now()};
  World world{loop, {}};
  std::unique_ptr<ApiEndpoint> endpoint;
  ApiServer::Subscription registrar;
  std::string directory;
  std::thread thread;
};

std::unique_ptr<KubectlFixture::Cluster> KubectlFixture::cluster_;

void KubectlFixture::SetUpTestSuite() {
  if (!has_kubectl()) {
    return;
  }
  cluster_ = std::make_unique<Cluster>();
  std::string pattern = (std::filesystem::temp_directory_path() / "millwright-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  cluster_->directory = pattern;
  auto endpoint = ApiEndpoint::start(cluster_->world.api());
  ASSERT_TRUE(endpoint.has_value()) << endpoint.error().message;
  cluster_->endpoint = *std::move(endpoint);
  ASSERT_TRUE(cluster_->endpoint->write_kubeconfig(directory() + "/kubeconfig").has_value());
  cluster_->world.start();
  cluster_->registrar = cluster_->world.api().watch(
      model::kNodeResource, [](const Event& event) { register_node(cluster_->world, event); });
  cluster_->thread = std::thread([] { cluster_->loop.run(); });
}

void KubectlFixture::TearDownTestSuite() {
  if (cluster_ == nullptr) {
    return;
  }
  on_loop([](World&) { cluster_->endpoint->stop(); });
  cluster_->loop.stop();
  cluster_->thread.join();
  std::error_code ignored;
  std::filesystem::remove_all(cluster_->directory, ignored);
  cluster_.reset();
}

void KubectlFixture::SetUp() {
  if (cluster_ == nullptr) {
    GTEST_SKIP() << "kubectl is not installed; scripts/setup installs it";
  }
}

std::string KubectlFixture::directory() {
  return cluster_->directory;
}

void KubectlFixture::on_loop(const std::function<void(World&)>& work) {
  std::promise<void> done;
  cluster_->loop.post([&] {
    work(cluster_->world);
    done.set_value();
  });
  done.get_future().wait();
}

void KubectlFixture::launch_node(const std::string& name, const std::string& cpu) {
  on_loop([&](World& world) {
    cloud::Instance instance;
    instance.provider_id = "test://" + name;
    instance.node_name = name;
    instance.capacity = {{"cpu", *model::Quantity::parse(cpu)},
                         {"memory", *model::Quantity::parse("16Gi")},
                         {"pods", *model::Quantity::parse("110")}};
    instance.allocatable = instance.capacity;
    world.kubelet().launched(instance, nullptr, {});
  });
  for (bool present = false; !present;) {
    on_loop([&](World& world) {
      present = world.api().get(model::kNodeResource, {{}, name}).has_value();
    });
  }
}

Output KubectlFixture::kubectl(const std::string& arguments, const std::string& input) {
  const auto file = directory() + "/input.yaml";
  std::ofstream(file) << input;
  // A cache of discovery documents of its own, so that nothing is read from or left in the home.
  const auto command = "KUBECONFIG=" + directory() +
                       "/kubeconfig kubectl --cache-dir=" + directory() + "/cache " + arguments +
                       " <" + file + " 2>&1";
  Output run;
  auto* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    ADD_FAILURE() << "cannot run kubectl";
    return run;
  }
  std::array<char, 4096> buffer{};
  for (std::size_t count = 0; (count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    run.output.append(buffer.data(), count);
  }
  const int status = pclose(pipe);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

std::string KubectlFixture::command() {
  // A cache of discovery documents of its own, so that nothing is read from or left in the home.
  return "KUBECONFIG=" + directory() + "/kubeconfig exec kubectl --cache-dir=" + directory() +
         "/cache ";
}

KubectlStream::KubectlStream(const std::string& arguments) {
  const auto line = "echo $$; " + KubectlFixture::command() + arguments + " 2>&1";
  pipe_ = popen(line.c_str(), "r");
  if (pipe_ != nullptr) {
    pid_ = static_cast<pid_t>(std::strtol(next_line().c_str(), nullptr, 10));
  }
}

KubectlStream::~KubectlStream() {
  if (pid_ > 0) {
    kill(pid_, SIGTERM);
  }
  if (pipe_ != nullptr) {
    pclose(pipe_);
  }
}

std::string KubectlStream::next_line() {
  std::string line;
  for (int c = 0; (c = fgetc(pipe_)) != EOF && c != '\n';) {
    line += static_cast<char>(c);
  }
  return line;
}

std::string Output::line(std::size_t index) const {
  const auto lines = lines_of(output);
  return index < lines.size() ? lines[index] : std::string();
}

std::string Output::cell(std::size_t row, const std::string& header) const {
  const auto begin = line(0).find(header);
  const auto text = line(row);
  if (begin == std::string::npos || begin >= text.size()) {
    return {};
  }
  const auto end = text.find("  ", begin);
  auto cell = text.substr(begin, end == std::string::npos ? end : end - begin);
  while (cell.ends_with(' ')) {
    cell.pop_back();
  }
  return cell;
}

std::string deployment_yaml(const std::string& name, int replicas, const std::string& image) {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name +
         "}\nspec:\n  replicas: " + std::to_string(replicas) +
         "\n  selector: {matchLabels: {app: " + name +
         "}}\n  template:\n    metadata: {labels: {app: " + name +
         "}}\n    spec:\n      terminationGracePeriodSeconds: 1\n      containers:\n      - name: "
         "main\n        image: " +
         image + "\n        resources: {requests: {cpu: 500m}}\n";
}

}  // namespace millwright::sandbox
