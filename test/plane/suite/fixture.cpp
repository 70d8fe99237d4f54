#include "plane/suite/fixture.hpp"

#include <fmt/format.h>

namespace millwright::plane {
namespace {

bool is_running(const json::value& pod) {
  return text_at(pod, "/status/phase") == "Running" &&
         text_at(pod, "/metadata/deletionTimestamp").empty();
}

std::string selected(std::string_view path, const std::string& pool) {
  return std::string(path) +
         (pool.empty() ? std::string() : "?labelSelector=karpenter.sh%2Fnodepool%3D" + pool);
}

}  // namespace

std::unique_ptr<Cluster> Cluster::start(ClusterOptions options) {
  auto cluster = std::make_unique<Cluster>();
  const auto started = cluster->start_parts(std::move(options));
  if (!started) {
    ADD_FAILURE() << started.error().message;
    return nullptr;
  }
  cluster->apply(kwok_node_class());
  return cluster;
}

base::Result<> Cluster::start_parts(ClusterOptions options) {
  MW_TRY(plane, Plane::start(std::move(options.plane)));
  plane_ = std::move(plane);
  auto done = plane_->start_controller_manager();
  done = done ? plane_->start_kwok() : done;
  done = done ? apply_crds(*plane_) : done;
  if (!done) {
    return done;
  }
  if (options.cloud) {
    MW_TRY(cloud, CloudProcess::start(*plane_, *std::move(options.cloud)));
    cloud_ = std::move(cloud);
    options.controller.cloud_url = cloud_->url();
  }
  if (options.faults) {
    MW_TRY(proxy, Proxy::start(*plane_, *options.faults));
    proxy_ = std::move(proxy);
    options.controller.kubeconfig = proxy_->kubeconfig();
  }
  MW_TRY(controller, Controller::start(*plane_, std::move(options.controller)));
  controller_ = std::move(controller);
  done = controller_->register_webhooks();
  if (done && !wait_until(seconds(30), [this] { return controller_->leads(); })) {
    return base::fail(base::ErrorKind::Timeout, "the controller does not lead");
  }
  return done ? plane_->start_scheduler(options.extender ? controller_->extender() : "") : done;
}

Cluster::~Cluster() {
  controller_.reset();  // before the API server that it would complain about
}

std::string Cluster::kubectl(const std::vector<std::string>& arguments, const std::string& input) {
  const Output output = plane_->kubectl(arguments, input);
  EXPECT_EQ(output.exit_code, 0) << output.text;
  return output.text;
}

std::string Cluster::refused(const std::vector<std::string>& arguments, const std::string& input) {
  const Output output = plane_->kubectl(arguments, input);
  EXPECT_NE(output.exit_code, 0) << output.text;
  return output.text;
}

std::vector<json::value> Cluster::pods(const std::string& app) {
  return plane_->list(std::string(kPods) + "?labelSelector=app%3D" + app);
}

std::size_t Cluster::running(const std::string& app) {
  const auto all = pods(app);
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_running));
}

std::vector<json::value> Cluster::nodes(const std::string& pool) {
  return plane_->list(selected(kNodes, pool));
}

std::vector<json::value> Cluster::claims(const std::string& pool) {
  return plane_->list(selected(kClaims, pool));
}

void Cluster::wait(const std::string& what, seconds limit, const std::function<bool()>& seen) {
  if (!wait_until(limit, seen)) {
    FAIL() << "not within " << limit.count() << " s: " << what << "\nthe controller said last:\n"
           << controller_->process().log_tail(25)
           << plane_->kubectl({"get", "nodeclaims,nodes,pods", "-o", "wide"}).text
           << plane_->kubectl({"get", "events", "--sort-by=.lastTimestamp"}).text;
  }
}

void Cluster::wait_running(const std::string& app, std::size_t count, seconds limit) {
  wait(fmt::format("{} pods of {} run", count, app), limit,
       [&] { return running(app) == count && pods(app).size() == count; });
}

void Cluster::wait_no_nodes(const std::string& pool, seconds limit) {
  wait("no node and no claim of " + pool + " is left", limit,
       [&] { return nodes(pool).empty() && claims(pool).empty(); });
}

void Cluster::clean_up(const std::string& app, const std::string& pool) {
  kubectl({"delete", "deployment", app, "--ignore-not-found", "--wait=false"});
  kubectl({"delete", "nodepool", pool, "--ignore-not-found", "--wait=false"});
  wait_no_nodes(pool);
}

std::string kwok_node_class() {
  return "apiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\nmetadata: {name: default}\n";
}

std::string node_pool(const std::string& name, const std::string& consolidate_after,
                      const std::string& extra) {
  return fmt::format(R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: {0}}}
spec:
  disruption: {{consolidateAfter: {1}, consolidationPolicy: WhenEmptyOrUnderutilized, budgets: [{{nodes: "100%"}}]}}
  template:
    spec:
      nodeClassRef: {{group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}
      requirements:
      - {{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}}
      - {{key: kubernetes.io/arch, operator: In, values: [amd64]}}
{2})",
                     name, consolidate_after, extra);
}

std::string deployment(const DeploymentSpec& spec) {
  return fmt::format(R"(apiVersion: apps/v1
kind: Deployment
metadata: {{name: {0}}}
spec:
  replicas: {1}
  selector: {{matchLabels: {{app: {0}}}}}
  template:
    metadata: {{labels: {{app: {0}}}, annotations: {5}}}
    spec:
      terminationGracePeriodSeconds: 1
{3}{4}      containers:
      - {{name: main, image: "registry.k8s.io/pause:3.10", resources: {{requests: {{cpu: "{2}"}}}}}}
)",
                     spec.name, spec.replicas, spec.cpu,
                     spec.pool.empty()
                         ? std::string()
                         : "      nodeSelector: {karpenter.sh/nodepool: " + spec.pool + "}\n",
                     spec.pod_spec, spec.pod_annotations);
}

}  // namespace millwright::plane
