import type { JobView } from "../../observability/api/jobs.ts";
import { keyText } from "../../orchestration/api/manifest-key.ts";
import { now } from "../browser/clock.ts";
import { appPath } from "../browser/paths.ts";
import { query, withQuery } from "../browser/router.ts";
import { calendar, dayText, dayWord, type Mark, weekAway, weekDays } from "../text/calendar.ts";
import { State } from "./state.tsx";
import { Table } from "./table.tsx";

/** A week of runs and of times to come: a row for each job, a column for each day. */
export function RunCalendar({ jobs }: { jobs: readonly JobView[] }) {
  const days = weekDays(query.value.get("week") ?? "", now.value);
  const today = dayWord(now.value);
  return (
    <section class="section" aria-label="Week">
      <div class="row">
        <a class="button bare" href={withQuery({ week: weekAway(days, -1) })}>
          Week before
        </a>
        <strong>{`${dayText(days[0] ?? 0)} to ${dayText(days[6] ?? 0)}`}</strong>
        <a class="button bare" href={withQuery({ week: weekAway(days, 1) })}>
          Week after
        </a>
        <a class="button bare" href={withQuery({ week: undefined })}>
          This week
        </a>
      </div>
      <Table
        label="Runs of the week"
        rows={calendar(jobs, days)}
        keyOf={({ job }) => keyText(job)}
        columns={[
          { title: "Job", cell: ({ job }) => <a href={appPath(job)}>{`${job.scope}/${job.name}`}</a> },
          ...days.slice(0, -1).map((day, index) => ({
            title: dayWord(day) === today ? `${dayText(day)}, today` : dayText(day),
            cell: ({ cells }: ReturnType<typeof calendar<JobView>>[number]) => {
              const { marks = [], summary } = cells[index] ?? {};
              if (summary === undefined && marks.length === 0) return <span class="faint">–</span>;
              return (
                <ul class="marks">
                  {summary === undefined ? null : (
                    <li>
                      <State tone={summary.tone} text={summary.text} />
                    </li>
                  )}
                  {marks.map((mark) => (
                    <li key={mark.key}>
                      <OneMark mark={mark} />
                    </li>
                  ))}
                </ul>
              );
            },
          })),
        ]}
      />
      <p class="row small soft">
        <State tone="good" text="succeeded" />
        <State tone="bad" text="failed or missed" />
        <State tone="warn" text="took more than twice as long as usual" />
        <State tone="idle" text="to come" />
        <span>A run leads to its lines. Runs are shown as far as the history of the job keeps them.</span>
      </p>
    </section>
  );
}

function OneMark({ mark: { tone, text, title, href } }: { mark: Mark }) {
  if (href === undefined) return <State tone={tone} text={text} title={title} />;
  return (
    <a href={href} aria-label={`${text}: ${title}`}>
      <State tone={tone} text={text} title={title} />
    </a>
  );
}
