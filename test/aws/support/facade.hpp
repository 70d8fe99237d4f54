// The AWS of test/aws/facade.py, which `scripts/test aws` starts and names in
// MILLWRIGHT_AWS_FACADE: its control door, which needs no signature.
#pragma once

#include "millwright/base/loop.hpp"
#include "millwright/net/client.hpp"

#include <boost/json/value.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace millwright::test {

inline constexpr std::string_view kFacadeCluster = "demo";
inline constexpr std::string_view kFacadeKey = "AKIDMILLWRIGHTTEST00";
inline constexpr std::string_view kFacadeSecret = "not-a-real-secret/0123456789+abcdefghijkl";

// An instance of its EC2, with what its first start would see.
struct Machine {
  std::string id;
  std::string type;
  std::string zone;
  std::string state;
  std::string node_name;
  std::int64_t cpus = 0;
  std::int64_t memory_mib = 0;
  std::string user_data;  // decoded
  std::map<std::string, std::string> tags;

  bool is_gone() const { return state == "terminated"; }
  std::string provider_id() const { return "aws:///" + zone + "/" + id; }
};
std::vector<Machine> read_machines(const std::string& answer);

// Blocks the calling thread; for one thread only.
class Facade {
 public:
  Facade();
  // Empty when the suite was not started by scripts/test aws.
  static std::string url();
  // Variables that lead the adapter there.
  static std::map<std::string, std::string> environment();

  // Null when it does not answer. With a body it is a POST.
  boost::json::value control(const std::string& path, const std::string& body = "");
  std::vector<Machine> machines();
  std::int64_t calls(const std::string& action);

 private:
  base::RealLoop loop_;  // never run: the client is only used blocking
  std::unique_ptr<net::Client> client_;
};

// Where the ledger stood, to judge what came after.
class LedgerMark {
 public:
  explicit LedgerMark(Facade& facade);
  // What must never be, one line each: an instance that still runs, a claim with two of them, a
  // client token that launched more than one, a call that was signed wrongly or showed a secret,
  // launch templates or instance profiles that nobody needs any more.
  std::vector<std::string> problems();
  // Instances since then.
  std::vector<Machine> launched();

 private:
  Facade& facade_;
  std::map<std::string, bool> known_;
  std::int64_t bad_signatures_ = 0;
};

}  // namespace millwright::test
