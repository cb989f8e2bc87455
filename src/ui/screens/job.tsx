import { useState } from "preact/hooks";
import { type JobView, listJobRuns, listJobs } from "../../observability/api/jobs.ts";
import type { JobRun } from "../../orchestration/api/jobs.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { activity } from "../data/model.ts";
import { Page } from "../frame/page.tsx";
import type { ScreenProps } from "../frame/screen.ts";
import { Button } from "../parts/button.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Empty } from "../parts/notes.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { linesOfRun } from "../text/calendar.ts";
import { plainLine } from "../text/lines.ts";
import { lastSuccess, outcomeTone } from "../text/states.ts";
import { JobActions, lastOf, scheduleOf, tookOf } from "./jobs.tsx";

const runsMax = 100;

/** One job or cron job: when it runs next, its last success, and each run with what it wrote. */
export function Screen({ params }: ScreenProps) {
  const { kind = "", scope = "", name = "" } = params;
  const newest = activity.value.find((event) => event.scope === scope && event.name === name);
  const loaded = useLoad(
    `${kind}/${scope}/${name}`,
    async (signal) => {
      const [{ jobs }, { runs }] = await Promise.all([
        api.call(listJobs, { query: { scope }, signal }),
        api.call(listJobRuns, { params: { scope, name }, query: { kind, limit: runsMax }, signal }),
      ]);
      return { job: jobs.find((one) => one.kind === kind && one.name === name), runs };
    },
    String(newest?.seq ?? ""),
  );
  const job = loaded.data?.job;
  return (
    <Page
      title={`${scope}/${name}`}
      command={`berth cron history ${scope}/${name}`}
      beside={job === undefined ? undefined : lastOf(job)}
      actions={job === undefined ? undefined : <JobActions job={job} again={loaded.again} />}
    >
      <Shown of={loaded} label={`${scope}/${name}`}>
        {({ job: found, runs }) => (
          <>
            {found === undefined ? null : <Facts job={found} />}
            <Runs runs={runs} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function Facts({ job }: { job: JobView }) {
  return (
    <dl class="card facts inset">
      <dt>Last success</dt>
      <dd>
        <Ago at={lastSuccess(job)?.ended_at} />
      </dd>
      <dt>Schedule</dt>
      <dd>{scheduleOf(job)}</dd>
      <dt>Next runs</dt>
      <dd class="row">
        {job.suspended ? <State tone="warn" text="paused" /> : null}
        {job.next_runs.slice(0, 3).map((at) => (
          <Ago key={at} at={at} />
        ))}
        {!job.suspended && job.next_runs.length === 0 ? "by hand" : null}
      </dd>
      <dt>Image</dt>
      <dd>
        <code>{job.image}</code>
      </dd>
      <dt>Kind</dt>
      <dd>{job.block === undefined ? job.kind : `${job.kind} of the block ${job.block}`}</dd>
    </dl>
  );
}

function Runs({ runs }: { runs: readonly JobRun[] }) {
  const [open, setOpen] = useState("");
  const shown = runs.find(({ run_id: id }) => id === open);
  if (runs.length === 0) {
    return (
      <Empty title="It never ran">
        <p>Run now… starts it once. Each run is kept with what it wrote.</p>
      </Empty>
    );
  }
  return (
    <section class="section">
      <h2>Runs</h2>
      <Table
        label="Runs"
        rows={runs}
        keyOf={({ run_id: id }) => id}
        columns={[
          { title: "State", cell: ({ status }) => <State tone={outcomeTone(status)} text={status} /> },
          { title: "Began", cell: ({ started_at: at, instant }) => <Ago at={at ?? instant} /> },
          { title: "Took", right: true, cell: tookOf },
          { title: "Why", cell: ({ trigger }) => trigger },
          { title: "Tries", right: true, cell: ({ attempt }) => attempt },
          { title: "Error", cell: ({ error }) => (error === undefined ? null : <span class="bad">{error}</span>) },
          {
            title: "",
            right: true,
            cell: ({ run_id: id }) => (
              <Button look="bare" onClick={() => setOpen(open === id ? "" : id)}>
                {open === id ? "Hide the log" : "Log"}
              </Button>
            ),
          },
        ]}
      />
      {shown === undefined ? null : <RunLog run={shown} />}
    </section>
  );
}

/** The last lines are kept with the run, also where no log is kept. */
function RunLog({ run }: { run: JobRun }) {
  const { started_at: started, ended_at: ended, tail } = run;
  const title = `Last lines of run ${run.run_id}`;
  return (
    <section class="section">
      <header>
        <h2>{title}</h2>
        {started === undefined ? null : <a href={linesOfRun(run, started, ended)}>All of its lines</a>}
      </header>
      {tail.length === 0 ? (
        <p class="soft">It wrote nothing.</p>
      ) : (
        <pre class="whole-line" tabIndex={0} aria-label={title} role="region">
          {tail.map(plainLine).join("\n")}
        </pre>
      )}
    </section>
  );
}
