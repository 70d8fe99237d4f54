// A real control plane (scripts/plane) on loopback ports in a temporary folder: etcd and
// kube-apiserver from start(), the other parts when asked for. All of it ends with the object, but
// for the audit log when MILLWRIGHT_AUDIT names a folder to keep it in.
// Blocks the calling thread; for one thread only.
#pragma once

#include "millwright/certs/certs.hpp"
#include "millwright/net/client.hpp"
#include "plane/runner/process.hpp"

#include <boost/json/value.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace millwright::base {
class RealLoop;
}

namespace millwright::plane {

namespace json = boost::json;
using std::chrono::seconds;

struct PlaneOptions {
  std::vector<std::string> api_server_flags;  // added to our own
  // audit.log has what the accounts of our installation called, and the answers; with this, what
  // everybody did, or what these rules (a YAML list) say.
  bool audit = false;
  std::string audit_rules;
};

struct Output {
  int exit_code = -1;
  std::string text;  // both streams
};

// What HTTP said.
struct Answer {
  int status = 0;  // 0: no connection
  json::value body;
};

class Plane {
 public:
  // Programs come from the folder that MILLWRIGHT_PLANE names. The error says which part did not
  // come up and ends with what it wrote.
  static base::Result<std::unique_ptr<Plane>> start(PlaneOptions options = {});
  ~Plane();
  Plane(const Plane&) = delete;
  Plane& operator=(const Plane&) = delete;

  const std::string& directory() const { return directory_; }
  const std::string& url() const { return url_; }
  std::string program(const std::string& part) const { return programs_ + "/" + part; }
  // A kubeconfig of an administrator, or of any user: RBAC decides what that one may do.
  std::string kubeconfig() const { return directory_ + "/admin.kubeconfig"; }
  std::string kubeconfig_of(const std::string& user, const std::vector<std::string>& groups);
  // A kubeconfig with a token of a ServiceAccount that is there.
  base::Result<std::string> kubeconfig_of_account(const std::string& namespace_,
                                                  const std::string& name);

  // How a client of an administrator connects.
  const net::ClientTls& admin_tls() const { return admin_tls_; }

  // `qps`: requests a second that it allows itself; Kubernetes' default is 20.
  base::Result<> start_controller_manager(int qps = 2'000);
  // `lease`: how long a node's Lease lasts; kwok renews each at a quarter of it.
  base::Result<> start_kwok(seconds lease = seconds(40));
  // `extenders`: the items of KubeSchedulerConfiguration's list, as YAML or JSON; empty: none.
  // `qps`: requests a second that it allows itself, twice as many in a burst; Kubernetes' default
  // is 50.
  base::Result<> start_scheduler(const std::string& extenders = {}, int qps = 2'000);
  // Another kube-scheduler beside it, part "second-scheduler", with a configuration of its own.
  base::Result<> start_second_scheduler(const std::string& configuration,
                                        const std::string& kubeconfig);
  // What the scheduler started last says of itself, in Prometheus' text format.
  std::string scheduler_metrics();
  void stop(const std::string& part) { parts_.erase(part); }
  // nullptr when that part does not run.
  Process* part(const std::string& name);
  // Ended hard and started again on the same port.
  base::Result<> restart_api_server();

  // Etcd forgets all that was overwritten or deleted so far: watches from before are Gone.
  base::Result<> compact_etcd();

  // kubectl as an administrator; `input` is what it reads from standard input.
  Output kubectl(const std::vector<std::string>& arguments, const std::string& input = {});
  // Applies a file (kubectl apply -f).
  Output apply(const std::string& path) { return kubectl({"apply", "-f", path}); }

  // The API by hand, as an administrator. `body` null: none.
  Answer call(const std::string& method, const std::string& path, const json::value& body = nullptr,
              const std::string& content_type = "application/json");
  // items of a list; empty when there is no answer.
  std::vector<json::value> list(const std::string& path);

 private:
  Plane() = default;
  base::Result<> prepare();
  base::Result<> start_etcd();
  base::Result<> start_api_server();
  // `program` empty: the one of that name.
  base::Result<> start_part(const std::string& name, std::vector<std::string> arguments,
                            const std::function<bool()>& ready = {},
                            const std::string& program = {});
  base::Result<> run_scheduler(const std::string& part, const std::string& configuration,
                               const std::string& kubeconfig);
  base::Result<net::Response> ask_scheduler(const std::string& path);
  void write_kubeconfig(const std::string& path, const certs::KeyPair& identity);
  void write_kubeconfig(const std::string& path, const std::string& credentials);
  void keep_audit_log() const;

  PlaneOptions options_;
  std::string programs_;
  std::string directory_;
  std::string url_;
  int etcd_port_ = 0;
  int api_port_ = 0;
  int scheduler_port_ = 0;
  certs::Bundle bundle_;
  std::unique_ptr<base::RealLoop> loop_;  // never run: the client is only used blocking
  net::ClientTls admin_tls_;
  std::unique_ptr<net::Client> client_;
  std::map<std::string, std::unique_ptr<Process>> parts_;
  int inputs_ = 0;
};

// Asks until `seen` holds; false after `limit`.
bool wait_until(seconds limit, const std::function<bool()>& seen);
// "" when the path leads to no text.
std::string text_at(const json::value& object, std::string_view pointer);

}  // namespace millwright::plane
