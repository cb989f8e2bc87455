import { type BackupRun, runBackup } from "../../backups/api/backups.ts";
import { protectionOf } from "../../backups/api/protection.ts";
import type { Restore } from "../../backups/api/restore.ts";
import type { App } from "../../observability/api/app-model.ts";
import { keyText } from "../../orchestration/api/manifest-key.ts";
import { api } from "../data/api.ts";
import { followCopies } from "../data/copies.ts";
import { lacks } from "../data/session.ts";
import { appPath } from "../browser/paths.ts";
import { Button } from "./button.tsx";
import { ask } from "./dialog.tsx";
import { Empty } from "./notes.tsx";
import { RestoreButton } from "./restore.tsx";
import { UndoButton } from "./restore-plan.tsx";
import { State } from "./state.tsx";
import { Table } from "./table.tsx";
import { Ago } from "./time.tsx";
import { type AppAtTarget, copiedAt, copyRows, protectionTones, restoreTones } from "../text/backups.ts";
import { bytesText, durationText } from "../text/figures.ts";
import { partText, type Undoable, undoable } from "../text/restores.ts";

/** The newest copy of each app with volumes at each target; what is wrong comes first. */
export function CopiesTable({ list }: { list: readonly App[] }) {
  const rows = copyRows(list);
  return (
    <section class="section">
      <h2>Apps with volumes</h2>
      {rows.length === 0 ? (
        <Empty title="No app has a volume">
          <p>The state of the server is copied all the same: manifests, config, users, keys and certificates.</p>
        </Empty>
      ) : (
        <Table
          label="Apps with volumes"
          rows={rows}
          keyOf={({ app, target = "" }) => `${keyText(app)} ${target}`}
          columns={[
            { title: "State", cell: ({ state }) => <State tone={protectionTones[state]} text={state} /> },
            { title: "App", cell: ({ app }) => <a href={appPath(app)}>{`${app.scope}/${app.name}`}</a> },
            { title: "Target", cell: ({ target }) => target ?? <span class="faint">–</span> },
            { title: "Newest copy", cell: ({ at }) => <Ago at={at} /> },
            {
              title: "Size",
              right: true,
              cell: ({ bytes }) => (bytes === undefined ? <span class="faint">–</span> : bytesText(bytes)),
            },
            { title: "Every", right: true, cell: ({ app }) => app.backup?.every ?? <span class="faint">–</span> },
            { title: "", right: true, cell: (row) => <Next row={row} /> },
          ]}
        />
      )}
    </section>
  );
}

/** What can be done about it. */
function Next({ row: { app, state, target, at } }: { row: AppAtTarget }) {
  const restore =
    at === undefined || target === undefined ? null : (
      <RestoreButton look="bare" app={`${app.scope}/${app.name}`} target={target} />
    );
  if (state === "not protected")
    return (
      <>
        <ProtectLine app={app} /> {restore}
      </>
    );
  if (target === undefined) return <code>berth backup target add --help</code>;
  return (
    <span class="row end">
      <Button look="bare" hindrance={lacks("admin")} onClick={() => askCopy({ app, target })}>
        Copy now…
      </Button>
      {restore}
    </span>
  );
}

/** How the copies of one app are, on its own page. */
export function BackupFact({ app }: { app: App }) {
  const { backup } = app;
  if (backup === undefined) return null;
  const state = protectionOf(backup);
  const newest = copiedAt(backup);
  const copies = backup.volumes.flatMap((volume) => volume.copies);
  const errors = copies.flatMap(({ error = [] }) => error);
  return (
    <>
      <dt>Backup</dt>
      <dd>
        <State tone={protectionTones[state]} text={state} />{" "}
        {newest === undefined ? null : (
          <span>
            {"last copy "}
            <Ago at={newest.at} />
            {` at ${newest.target} `}
          </span>
        )}
        {state === "not protected" ? <ProtectLine app={app} /> : <a href="/backups">all backups</a>}{" "}
        {copies.some(({ at }) => at !== undefined) ? (
          <RestoreButton look="bare" app={`${app.scope}/${app.name}`} />
        ) : null}
        {errors.length === 0 ? null : <p class="bad">{errors[0]}</p>}
      </dd>
    </>
  );
}

/** The line that protects an app. */
function ProtectLine({ app: { block } }: { app: App }) {
  return (
    <span class="soft small">
      {"add "}
      <code>{"backup: {}"}</code>
      {block === undefined ? " to its manifest" : ` to ${block}`}
    </span>
  );
}

/** Copies everything to every target. */
export function CopyNow({ hindrance }: { hindrance: string | undefined }) {
  return (
    <Button hindrance={lacks("admin") ?? hindrance} onClick={() => askCopy()}>
      Copy now…
    </Button>
  );
}

/** `of`: only the volumes of this app, to this target. */
function askCopy(of?: { app: App; target: string }): void {
  const app = of === undefined ? undefined : `${of.app.scope}/${of.app.name}`;
  const what =
    app === undefined ? "The state of the server and every protected volume are" : `Each volume of ${app} is`;
  ask({
    title: app === undefined ? "Copy everything now" : `Copy ${app} to ${of?.target} now`,
    verb: "Copy now",
    command: ["berth backup now", ...(of === undefined ? [] : [app, "--target", of.target])].join(" "),
    effects: [
      { text: `${what} copied to ${of?.target ?? "every target"}, one after the other` },
      { text: "Each app is paused for the last part of its copy, 10 seconds at most, unless it has pre or post" },
      { text: "The next copies by schedule stay as they are" },
    ],
    run: async () => void followCopies(await api.call(runBackup, { query: { app, target: of?.target } })),
  });
}

/** What was brought back, newest first. */
export function Restores({ list }: { list: readonly Restore[] }) {
  if (list.length === 0) return null;
  return (
    <section class="section">
      <h2>Restores</h2>
      <Table
        label="Restores"
        rows={list}
        keyOf={({ id }) => id}
        columns={[
          { title: "State", cell: ({ state }) => <State tone={restoreTones[state]} text={state} /> },
          { title: "Volume", cell: partText },
          { title: "Began", cell: ({ started_at: at }) => <Ago at={at} /> },
          { title: "Copy of", cell: ({ at }) => <Ago at={at} /> },
          { title: "Target", cell: ({ target }) => target },
          { title: "Size", right: true, cell: ({ bytes }) => bytesText(bytes) },
          { title: "Outcome", cell: outcomeOf },
          { title: "", right: true, cell: (row) => <WayBack of={undoable(row, list)} /> },
        ]}
      />
    </section>
  );
}

const WayBack = ({ of }: { of: Undoable | undefined }) => (of === undefined ? null : <UndoButton of={of} />);

const wayTexts: Record<Restore["way"], string> = {
  in_place: "in place",
  beside: "into a new volume",
  into: "into a folder",
  missing: "was missing",
};

function outcomeOf({ error, kept_until: until, way, mount, into }: Restore) {
  if (error !== undefined) return <span class="bad wraps">{error}</span>;
  const place = mount ?? into;
  return (
    <span class="soft small wraps">
      {place === undefined ? wayTexts[way] : `${wayTexts[way]}, ${place}`}
      {until === undefined ? null : (
        <>
          {"; what it replaced goes "}
          <Ago at={until} />
        </>
      )}
    </span>
  );
}

const runsShown = 20;

/** The newest copies that were made or failed. */
export function Runs({ list }: { list: readonly BackupRun[] }) {
  if (list.length === 0) return null;
  return (
    <section class="section">
      <h2>Last runs</h2>
      <Table
        label="Last runs"
        rows={list.slice(0, runsShown)}
        keyOf={({ target, what, started_at: at }) => `${target} ${what} ${at}`}
        columns={[
          {
            title: "State",
            cell: ({ error }) =>
              error === undefined ? <State tone="good" text="copied" /> : <State tone="bad" text="failed" />,
          },
          { title: "What", cell: ({ what }) => (what === "state" ? "state of the server" : what) },
          { title: "Target", cell: ({ target }) => target },
          { title: "Began", cell: ({ started_at: at }) => <Ago at={at} /> },
          { title: "Took", right: true, cell: tookOf },
          { title: "Size", right: true, cell: ({ bytes }) => (bytes === undefined ? "–" : bytesText(bytes)) },
          { title: "Added", right: true, cell: ({ added }) => (added === undefined ? "–" : bytesText(added)) },
          { title: "Notes", cell: noteOf },
        ]}
      />
    </section>
  );
}

function tookOf({ started_at: from, ended_at: to }: BackupRun) {
  return to === undefined ? "–" : durationText(Date.parse(to) - Date.parse(from));
}

function noteOf({ error, paused_ms: paused }: BackupRun) {
  if (error !== undefined) return <span class="bad wraps">{error}</span>;
  return paused === undefined ? null : <span class="soft small">{`app paused for ${durationText(paused)}`}</span>;
}
