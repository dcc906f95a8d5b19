#include "workloads/request_bodies.hpp"

#include <algorithm>
#include <cmath>

#include "workloads/content_ids.hpp"

namespace inferometer {

TokenCount MaxNewRule::max_new(TokenCount output) const {
  if (tokens) {
    return std::max(*tokens, output);
  }
  return TokenCount(static_cast<std::int64_t>(std::ceil(static_cast<double>(output.count()) * factor)));
}

RequestBodies::Body RequestBodies::draw() {
  const LengthSampler::Lengths lengths = lengths_.next();
  Body body;
  body.question = lengths.prompt;
  body.output = lengths.output;
  body.max_new = max_new_.max_new(lengths.output);
  if (prefixes_) {
    const PrefixGroups::Opening opening = prefixes_->next(lengths.prompt);
    body.prefix = opening.prefix;
    body.question = opening.question;
    body.question_content = opening.question_content;
  }
  if (classes_) {
    const ServiceClasses::Choice choice = classes_->next();
    body.service_class = choice.service_class;
    body.priority = choice.priority;
  }
  return body;
}

void RequestBodies::fill(Request& request, std::int64_t id, TimePoint arrival) {
  const Body body = draw();
  request.id = id;
  request.arrival = arrival;
  request.prompt = body.question + TokenCount(body.prefix.tokens);
  request.output = body.output;
  request.max_new = body.max_new;
  request.session = -1;
  request.service_class = body.service_class;
  request.priority = body.priority;
  request.content.clear();
  request.output_content = 0;
  if (prefixes_) {
    request.content.push_back(body.prefix);
    request.content.push_back(
        {body.question_content != 0 ? body.question_content : content_id(ContentKind::question, id),
         body.question.count()});
  }
}

}  // namespace inferometer
