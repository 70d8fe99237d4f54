// aws_bench [CLAIMS]: that many claims launched at once by the real adapter, and ended again, on an
// EC2 whose every call takes 10 ms. In virtual time: the figures are the adapter's own rates and
// batches, whatever machine this runs on.
#include "cloud/aws/aws_cloud.hpp"
#include "cloud/aws/catalog/type_labels.hpp"
#include "unit/cloud/aws/fakes/fake_ec2.hpp"

#include <cstdio>
#include <cstdlib>

namespace millwright::cloud::aws {
namespace {

using Claim = std::shared_ptr<model::NodeClaim>;
using std::chrono::duration;

struct Phase {
  std::map<std::string, int> calls;
  double longest_wait = 0;  // seconds between the first and the last call of one operation
  double took = 0;
};

class Bench {
 public:
  Bench() : loop_(kStart), http_(loop_), ec2_(loop_, http_), background_(loop_) {
    register_labels();
    machine_.variables = {{"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", "S"}};
    AwsSettings settings{.cluster_name = "demo", .cluster_endpoint = "https://api.example"};
    settings.kubernetes_version = "1.31";
    settings.service_cidr = "10.100.0.0/16";
    cloud_ = std::make_unique<AwsCloud>(
        AwsCloud::Parts{.loop = loop_,
                        .client = http_,
                        .settings = settings,
                        .environment = machine_.environment(),
                        .endpoints = *Endpoints::make("us-west-2", machine_.environment()),
                        .metrics = metrics_,
                        .log = {}},
        PriceFile{});
    background_.spawn(cloud_->run(background_.stop_token()));
    loop_.run_for(std::chrono::minutes(1));
  }

  Phase launch(std::vector<Claim>& claims) {
    return measure(claims, [this](Claim claim) { return create(claim); });
  }
  // Until EC2 has been told of each.
  Phase end(std::vector<Claim>& claims) {
    return measure(claims, [this](Claim claim) { return remove(claim); });
  }

 private:
  base::Task<bool> create(Claim claim) {
    auto made = co_await cloud_->create(claim, class_);
    if (made) {
      claim->provider_id = made->provider_id;
    }
    co_return made.has_value();
  }
  base::Task<bool> remove(Claim claim) {
    auto removed = co_await cloud_->remove(claim);
    co_return removed.has_value();
  }
  static base::Task<void> count(base::Task<bool> work, std::size_t& done) {
    const bool good = co_await std::move(work);
    done += good ? 1 : 0;
  }

  Phase measure(std::vector<Claim>& claims, const std::function<base::Task<bool>(Claim)>& work) {
    const auto begun = loop_.now();
    const auto first = ec2_.aws.asked.size();
    std::size_t done = 0;
    base::TaskGroup group(loop_);
    for (const auto& claim : claims) {
      group.spawn(count(work(claim), done));
    }
    if (!loop_.run_until([&] { return done == claims.size(); }, std::chrono::hours(1))) {
      std::fprintf(stderr, "aws_bench: only %zu of %zu claims were served\n", done, claims.size());
      std::exit(1);
    }
    Phase phase;
    phase.took = duration<double>(loop_.now() - begun).count();
    std::map<std::string, base::TimePoint> earliest;
    for (std::size_t i = first; i < ec2_.aws.asked.size(); ++i) {
      const auto& operation = ec2_.aws.asked[i].operation;
      const auto at = http_.times[i];
      earliest.emplace(operation, at);
      phase.calls[operation] += 1;
      phase.longest_wait =
          std::max(phase.longest_wait, duration<double>(at - earliest[operation]).count());
    }
    return phase;
  }

  base::VirtualLoop loop_;
  FakeHttp http_;
  FakeEc2 ec2_;
  FakeMachine machine_;
  base::Metrics metrics_;
  std::shared_ptr<model::NodeClass> class_ = node_class({{"amiFamily", "AL2023"}});
  std::unique_ptr<AwsCloud> cloud_;
  base::TaskGroup background_;
};

std::vector<Claim> claims(int count) {
  std::vector<Claim> result;
  for (int i = 0; i < count; ++i) {
    auto claim = std::make_shared<model::NodeClaim>();
    claim->meta.name = "claim-" + std::to_string(i);
    claim->meta.uid = "uid-" + std::to_string(i);
    claim->meta.labels[std::string(model::kNodePoolLabel)] = "pool";
    claim->meta.creation_timestamp = kStart + std::chrono::hours(1);
    claim->requirements = {{.key = "node.kubernetes.io/instance-type",
                            .op = model::Operator::In,
                            .values = {"m5.large", "m6i.large"}}};
    result.push_back(std::move(claim));
  }
  return result;
}

void print(const char* what, const Phase& phase) {
  std::string calls;
  for (const auto& [operation, count] : phase.calls) {
    calls += (calls.empty() ? "" : ", ") + operation + " " + std::to_string(count);
  }
  std::printf("| %s | %s | %.2f s | %.2f s |\n", what, calls.c_str(), phase.longest_wait,
              phase.took);
}

int run(int count) {
  Bench bench;
  auto all = claims(count);
  std::printf(
      "%d claims at once\n\n| | calls | longest throttle | until all |\n|---|---|---|---|\n",
      count);
  print("launch", bench.launch(all));
  print("terminate", bench.end(all));
  return 0;
}

}  // namespace
}  // namespace millwright::cloud::aws

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
  return count > 0 ? millwright::cloud::aws::run(count) : 2;
}
