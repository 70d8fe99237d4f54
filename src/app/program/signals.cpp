#include "app/program/signals.hpp"

#include <pthread.h>

#include <csignal>
#include <thread>

namespace millwright::app {

struct Signals::State {
  std::function<void(int)> on_signal;
  sigset_t set{};
  std::thread thread;
};

Signals::Signals(std::function<void(int signal)> on_signal) : state_(std::make_unique<State>()) {
  state_->on_signal = std::move(on_signal);
  sigemptyset(&state_->set);
  sigaddset(&state_->set, SIGINT);
  sigaddset(&state_->set, SIGTERM);
  sigaddset(&state_->set, SIGUSR2);  // ends the thread
  pthread_sigmask(SIG_BLOCK, &state_->set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a peer that went away is an error value, not the end
  state_->thread = std::thread([state = state_.get()] {
    int signal = 0;
    while (sigwait(&state->set, &signal) == 0 && signal != SIGUSR2) {
      state->on_signal(signal);
    }
  });
}

Signals::~Signals() {
  pthread_kill(state_->thread.native_handle(), SIGUSR2);
  state_->thread.join();
}

}  // namespace millwright::app
