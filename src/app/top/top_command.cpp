#include "app/top/top_command.hpp"

#include "app/program/signals.hpp"
#include "app/top/cluster_view.hpp"
#include "app/top/terminal.hpp"

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

namespace millwright::app {
namespace {

base::Result<ClusterView> read_view(const base::Result<net::Response>& answer,
                                    const RemoteServer& server, const Choice& choice) {
  MW_TRY(reply, reply_of(answer, server));
  if (!reply.known) {
    return base::fail(base::ErrorKind::NotFound, server.url + " has no " +
                                                     std::string(kClusterPath) +
                                                     ": its controller is older than this program");
  }
  MW_TRY(view, parse_cluster_view(reply.text));
  return chosen(std::move(view), choice);
}

int fail_top(const base::Error& error) {
  std::fprintf(stderr, "millwright top: %s\n", error.message.c_str());
  return 2;
}

// Asks and draws until a key or a signal ends it.
class LiveTop {
 public:
  LiveTop(const TopArguments& arguments, Choice choice)
      : arguments_(arguments), choice_(std::move(choice)), group_(loop_) {}

  int run() {
    const Signals signals([this](int) { quit(); });
    auto made = connect(loop_, arguments_.server);
    if (!made) {
      return fail_top(made.error());
    }
    transport_ = *std::move(made);
    group_.spawn(ask_and_draw());
    loop_.run();
    terminal_.reset();
    return failure_ ? fail_top(*failure_) : 0;
  }

 private:
  // Any thread.
  void quit() {
    loop_.post([this] { group_.request_stop(); });
  }

  base::Task<void> ask_and_draw() {
    const auto stop = group_.stop_token();
    const auto pause = std::chrono::duration_cast<base::Duration>(
        std::chrono::duration<double>(arguments_.interval));
    while (!stop.stop_requested() && !failure_) {
      auto request = get_request(kClusterPath);
      const auto answer = co_await transport_->call(std::move(request), stop);
      if (!stop.stop_requested()) {
        show(read_view(answer, arguments_.server, choice_));
      }
      if (!failure_) {
        co_await base::sleep(loop_, pause, stop);
      }
    }
    loop_.stop();
  }

  // The first answer must come; where a later one does not, the last view stays with the reason.
  void show(base::Result<ClusterView> view) {
    std::string problem;
    if (view) {
      last_ = *std::move(view);
    } else if (!last_) {
      failure_ = view.error();
      return;
    } else {
      problem = "not fresh: " + view.error().message;
    }
    if (!terminal_) {
      terminal_ = std::make_unique<Terminal>([this](char key) {
        if (key == 'q') {
          quit();
        }
      });
    }
    const std::size_t width = screen_size().columns;
    const std::string above = problem.empty() ? problem : one_line(problem, width) + "\n";
    terminal_->draw(above + to_text(*last_, width));
  }

  const TopArguments& arguments_;
  const Choice choice_;
  base::RealLoop loop_;
  std::shared_ptr<kube::Transport> transport_;
  std::optional<ClusterView> last_;
  std::optional<base::Error> failure_;
  std::unique_ptr<Terminal> terminal_;
  base::TaskGroup group_;
};

int run_top_once(const TopArguments& arguments, const Choice& choice) {
  const auto view = read_view(fetch(kClusterPath, arguments.server), arguments.server, choice);
  if (!view) {
    return fail_top(view.error());
  }
  // Scripts get names whole; people get lines that their terminal holds.
  const std::size_t width = is_terminal() ? screen_size().columns : TableLayout::kUnlimited;
  const std::string text = arguments.output == "json" ? to_json(*view) : to_text(*view, width);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

int run_top(const TopArguments& arguments) {
  const auto order = parse_node_order(arguments.sort);
  if (!order) {
    return fail_top(order.error());
  }
  const Choice choice{.order = *order, .node_pool = arguments.node_pool};
  if (arguments.once || arguments.output == "json" || !is_terminal()) {
    return run_top_once(arguments, choice);
  }
  return LiveTop(arguments, choice).run();
}

}  // namespace millwright::app
