#include "journal/recorder.h"

#include "journal/record.h"

namespace fiel {

Recorder::Recorder(Journal& journal, Clock& clock, Observer observer)
    : journal_(journal), clock_(clock), observer_(std::move(observer)), started_at_(clock.now_seconds()) {
  if (!journal_.events().empty()) before_this_process_ = journal_.events().back().spent_seconds;
}

double Recorder::live_seconds() const { return before_this_process_ + clock_.now_seconds() - started_at_; }

Result<Json> Recorder::once(std::string_view key, std::string_view type,
                            const std::function<Result<Record>()>& work) {
  if (journal_.find(key) == nullptr) {
    const Record record = FIEL_TRY(work());
    FIEL_TRY(journal_.append(key, type, record.body, live_seconds(), record.series));
  }
  const Event& event = *journal_.find(key);
  spent_seconds_ = event.spent_seconds;
  if (observer_) observer_(event);
  return parse_json(event.body);
}

}  // namespace fiel
