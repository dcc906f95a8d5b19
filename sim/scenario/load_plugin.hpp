#pragma once

#include <string>
#include <vector>

namespace inferometer {

/// Loads a shared object made by sim/plugin/plugin.hpp, and adds its policies to policy_registry() and its
/// routers to router_registry(): from then on scenarios may name them. Before scenarios are loaded, and not
/// on two threads. Runs code of the file with the rights of the user, so nothing calls this but for a file
/// that the user named as a plugin. Throws ConfigError, and has registered nothing then: there is no such
/// file; it is no shared object, was cut off, or lacks libraries; it is no plugin; it was built for another
/// interface, from other sources or with another standard library than this program; a name is taken; an
/// entry is not complete; it threw while it registered.
void load_plugin(const std::string& path);

/// File that the policy or router of this name was loaded from, an absolute path; "" for one that is linked
/// in and for none.
std::string plugin_of_policy(const std::string& name);
std::string plugin_of_router(const std::string& name);

/// Files of all plugins that were loaded.
std::vector<std::string> loaded_plugins();

}  // namespace inferometer
