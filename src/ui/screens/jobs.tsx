import { type JobView, listJobs, pauseCronjob, resumeCronjob, runJobNow } from "../../observability/api/jobs.ts";
import { api, faultText } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { activity } from "../data/model.ts";
import { lacks } from "../data/session.ts";
import { Page } from "../frame/page.tsx";
import { appPath } from "../browser/paths.ts";
import { query } from "../browser/router.ts";
import { Button } from "../parts/button.tsx";
import { ask } from "../parts/dialog.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Empty } from "../parts/notes.tsx";
import { State } from "../parts/state.tsx";
import { RunCalendar } from "../parts/run-calendar.tsx";
import { Table } from "../parts/table.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Ago } from "../parts/time.tsx";
import { say } from "../data/notices.ts";
import { durationText } from "../text/figures.ts";
import { lastSuccess, outcomeTone } from "../text/states.ts";

/** Jobs and cron jobs: when they run next, and how their last runs went. A run that was missed is a row like the others. */
export function Screen() {
  const version = String(activity.value.find(({ kind }) => kind === "job" || kind === "cronjob")?.seq ?? "");
  const loaded = useLoad("jobs", (signal) => api.call(listJobs, { signal }), version);
  const isWeek = query.value.get("view") === "week";
  return (
    <Page title="Jobs" command="berth cron list">
      <Shown of={loaded} label="the jobs">
        {({ jobs }) =>
          jobs.length === 0 ? (
            <Empty title="No jobs yet">
              <p>
                A manifest of the kind job or cronjob makes one. Each run, also a missed one, is kept with its output.
              </p>
            </Empty>
          ) : (
            <>
              <Tabs label="Jobs" tabs={tabs} current={isWeek ? "/jobs?view=week" : "/jobs"} />
              {isWeek ? <RunCalendar jobs={jobs} /> : <Jobs jobs={jobs} again={loaded.again} />}
            </>
          )
        }
      </Shown>
    </Page>
  );
}

const tabs = [
  { title: "List", href: "/jobs" },
  { title: "Week", href: "/jobs?view=week" },
];

const named = ({ scope, name }: JobView) => `${scope}/${name}`;

function Jobs({ jobs, again }: { jobs: readonly JobView[]; again: () => void }) {
  return (
    <Table
      label="Jobs"
      rows={jobs}
      keyOf={(job) => `${job.kind}/${named(job)}`}
      columns={[
        { title: "Last run", cell: lastOf },
        {
          title: "Job",
          cell: (job) => <a href={appPath(job)}>{named(job)}</a>,
        },
        { title: "Schedule", cell: scheduleOf },
        {
          title: "Next",
          cell: ({ next_runs: [next], suspended }) =>
            suspended ? <State tone="warn" text="paused" /> : <Ago at={next} />,
        },
        { title: "Last success", cell: (job) => <Ago at={lastSuccess(job)?.ended_at} /> },
        { title: "Took", right: true, cell: ({ last_run: run }) => tookOf(run) },
        { title: "Last runs, newest first", cell: historyOf },
        { title: "", right: true, cell: (job) => <JobActions job={job} again={again} /> },
      ]}
    />
  );
}

/** How the last run went. */
export function lastOf({ last_run: run, running }: JobView) {
  if (running > 0) return <State tone="work" text="running" />;
  if (run === undefined) return <span class="faint">never ran</span>;
  return (
    <State
      tone={outcomeTone(run.status)}
      text={run.status}
      {...(run.error === undefined ? {} : { title: run.error })}
    />
  );
}

export function scheduleOf({ schedule, timezone, kind }: JobView) {
  if (schedule === undefined) return <span class="faint">{kind === "job" ? "by hand" : "–"}</span>;
  return <code>{timezone === undefined ? schedule : `${schedule} ${timezone}`}</code>;
}

/** Both times are of the server's clock. */
export function tookOf(run: JobView["last_run"] | JobView["runs"][number]) {
  if (run?.started_at === undefined || run.ended_at === undefined) return <span class="faint">–</span>;
  return durationText(Date.parse(run.ended_at) - Date.parse(run.started_at));
}

const shownRuns = 12;

function historyOf({ runs }: JobView) {
  return (
    <span class="row">
      {runs.slice(0, shownRuns).map(({ run_id: id, status, error }) => (
        <State
          key={id}
          tone={outcomeTone(status)}
          text=""
          title={error === undefined ? status : `${status}: ${error}`}
        />
      ))}
    </span>
  );
}

/** What can be done with a job. */
export function JobActions({ job, again }: { job: JobView; again: () => void }) {
  const missing = lacks("actions");
  const { kind, scope, name, suspended } = job;
  const pause = async () => {
    await api.call(suspended ? resumeCronjob : pauseCronjob, { params: { scope, name } });
    again();
  };
  return (
    <span class="row end">
      <Button look="bare" hindrance={missing} onClick={() => askRun(job, again)}>
        Run now…
      </Button>
      {kind === "cronjob" ? (
        <Button
          look="bare"
          hindrance={missing}
          onClick={() => void pause().catch((error: unknown) => say(faultText(error), "bad"))}
        >
          {suspended ? "Resume" : "Pause"}
        </Button>
      ) : null}
    </span>
  );
}

function askRun(job: JobView, again: () => void): void {
  const { kind, scope, name } = job;
  ask({
    title: `Run ${named(job)} now`,
    verb: "Run",
    command: kind === "cronjob" ? `berth cron run ${named(job)}` : `berth run ${named(job)}`,
    effects: [
      { text: `One container of ${job.image} runs to its end` },
      ...(job.schedule === undefined ? [] : [{ text: "The schedule stays as it is" }]),
    ],
    run: async () => {
      const { run } = await api.call(runJobNow, { params: { scope, name }, query: { kind } });
      say(`Run ${run.run_id} of ${named(job)} has begun`, "work");
      again();
    },
  });
}
