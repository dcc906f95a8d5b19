#pragma once

namespace CLI {
class App;
}

namespace inferometer {

/// Adds --plugin, for commands whose scenarios may name policies and routers from outside the tree. They are
/// loaded before the command's callback runs.
void add_plugin_option(CLI::App& command);

}  // namespace inferometer
