#pragma once

namespace CLI {
class App;
}

namespace inferometer {

/// `workload generate`: writes the requests of a scenario's workload to a trace file.
void add_workload_generate(CLI::App& workload_command);

}  // namespace inferometer
