# Writes a C++ file with the function plugin_sources_digest(): a digest of the contents of files, by their names.
#   cmake -DOUTPUT=x.cpp -DROOT=folder "-DFILES=a.hpp;b.cpp" -P sources_digest.cmake
list(SORT FILES)
set(all "")
foreach(path IN LISTS FILES)
  file(SHA256 "${ROOT}/${path}" digest)
  string(APPEND all "${path} ${digest}\n")
endforeach()
string(SHA256 digest "${all}")
file(WRITE "${OUTPUT}" "#include \"sim/plugin/plugin.hpp\"\n\nnamespace inferometer {\n\n"
  "const char* plugin_sources_digest() {\n  return \"${digest}\";\n}\n\n}  // namespace inferometer\n")
