// A shared object that is no plugin.

extern "C" int answer() {
  return 42;
}
