# Writes a C++ file with functions that return files as text, for pages that carry them:
#   cmake -DOUTPUT=x.cpp -DHEADER=x.hpp "-DFILES=function=path;function=" -P embed_files.cmake
# A function without a path returns "". Bytes are written as escapes, whatever they are, in literals of the size that
# every compiler takes; arrays of numbers would take it ten times as long.

set(chunk_hex_digits 32000)

set(text "#include \"${HEADER}\"\n\n#include <initializer_list>\n\nnamespace inferometer {\nnamespace {\n\n")
string(APPEND text "std::string joined_text(std::initializer_list<std::string_view> pieces) {\n  std::string text;\n"
  "  for (const std::string_view piece : pieces) {\n    text += piece;\n  }\n  return text;\n}\n\n}  // namespace\n\n"
  "using namespace std::string_view_literals;\n")
foreach(entry IN LISTS FILES)
  string(REGEX MATCH "^([a-z_]+)=(.*)$" matched "${entry}")
  set(function ${CMAKE_MATCH_1})
  set(path ${CMAKE_MATCH_2})
  string(APPEND text "\nstd::string_view ${function}() {\n  static const std::string text = joined_text({\n")
  if(path)
    file(READ "${path}" hex HEX)
    string(LENGTH "${hex}" length)
    set(begin 0)
    while(begin LESS length)
      string(SUBSTRING "${hex}" ${begin} ${chunk_hex_digits} chunk)
      string(REGEX REPLACE "(..)" "\\\\x\\1" chunk "${chunk}")
      string(APPEND text "      \"${chunk}\"sv,\n")
      math(EXPR begin "${begin} + ${chunk_hex_digits}")
    endwhile()
  endif()
  string(APPEND text "  });\n  return text;\n}\n")
endforeach()
string(APPEND text "\n}  // namespace inferometer\n")
file(WRITE "${OUTPUT}" "${text}")
