// A sandbox story told to whichever cluster the client reaches, and then everything deleted that
// it left, until no node and no NodeClass is there. Loop thread only.
#pragma once

#include "aws/support/facade.hpp"
#include "millwright/kube/client.hpp"
#include "millwright/sandbox/story.hpp"

#include <stop_token>
#include <string>

namespace millwright::test {

base::Task<sandbox::StoryReport> tell_and_clean_up(std::string story, sandbox::Recorder& recorder,
                                                   kube::Client& client, std::stop_token stop);

// Each failure on a line of its own; empty when the story held.
std::string failures_of(const sandbox::StoryReport& report);

}  // namespace millwright::test
