#pragma once

// Texts and numbers as they stand in a page: nothing that a user wrote is ever taken for HTML or for
// JavaScript.

#include <string>
#include <string_view>

namespace inferometer {

/// For the content of an element and for an attribute in double quotes. Bytes that are no UTF-8 and control
/// characters other than tab and line feed become U+FFFD.
std::string html_escaped(std::string_view text);

/// A JSON string with its quotes, for a script element: <, > and & and the line ends of JavaScript that JSON
/// does not know are written as \uXXXX. Otherwise as html_escaped().
std::string json_string(std::string_view text);

/// The shortest text that reads back as the same number, for JSON and attributes. Precondition: finite.
std::string exact_number(double number);

/// For people: six digits that matter at most, without an exponent from 0.0001 to 1e15. Precondition: finite.
std::string readable_number(double number);

}  // namespace inferometer
