// The HTTP client, over libcurl's multi interface. One background thread does all transfers;
// answers arrive on the loop. Uses HTTP/2 where offered, and the proxies that the environment
// names.
#pragma once

#include "millwright/base/result.hpp"
#include "millwright/base/task.hpp"
#include "millwright/net/http.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace millwright::net {

struct ClientTls {
  std::string ca_pem;           // empty: the system's trust store
  std::string certificate_pem;  // client certificate, with key_pem
  std::string key_pem;
  std::string server_name;  // SNI and verification name, when the URL's host is not it
  bool insecure_skip_verify = false;
};

// Of all connections of a client.
struct ClientOptions {
  // A peer that acknowledges nothing for so long is gone, and so is one that acknowledges but does
  // not read: the connection ends. libcurl then sends what has no answer again over another one,
  // writes too. Therefore longer than a request's own limit: one that may have arrived before the
  // peer fell silent has failed as Timeout by then. What was sent later will not have arrived.
  std::chrono::milliseconds unacknowledged_limit{35'000};
};

struct ClientRequest {
  std::string method = "GET";
  std::string url;
  Headers headers;
  std::string body;
  std::chrono::milliseconds timeout{30'000};  // whole exchange; 0 for streams
  std::chrono::milliseconds connect_timeout{10'000};
  // Streams fail with Timeout when nothing has arrived for this long, not even a heartbeat.
  std::chrono::milliseconds idle_timeout{0};
  std::size_t body_limit = 256U << 20;
  bool follow_redirects = false;
  // For a request that must not arrive twice. On a connection that served before, libcurl sends a
  // request again, a POST too, when the peer closes without a byte of an answer.
  bool fresh_connection = false;
};

class Client {
 public:
  virtual ~Client() = default;

  // An answer of any HTTP status is a Response. Errors: Unavailable (no connection), Timeout (past
  // the deadline), Cancelled (`stop`).
  virtual base::Task<base::Result<Response>> send(ClientRequest request,
                                                  std::stop_token stop = {}) = 0;
  // Calls `on_chunk` on the loop for each piece of a 200 answer's body as it comes, and returns
  // when the peer ended it. The first piece comes with the answer's head, and is empty when nothing
  // of the body is there yet. Another status is returned with its body and no chunk.
  virtual base::Task<base::Result<Response>> stream(ClientRequest request,
                                                    std::function<void(std::string_view)> on_chunk,
                                                    std::stop_token stop) = 0;
  // For callers outside any loop (command line tools): blocks the calling thread.
  virtual base::Result<Response> send_blocking(ClientRequest request) = 0;
};

// `loop` must outlive the client and must be a real one, since answers come from another thread.
// The client's destructor cancels the transfers in progress.
std::unique_ptr<Client> make_client(base::Loop& loop, ClientTls tls = {},
                                    ClientOptions options = {});

}  // namespace millwright::net
