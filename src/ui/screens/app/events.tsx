import { listActivity } from "../../../observability/api/activity.ts";
import type { AppDetail } from "../../../observability/api/apps.ts";
import { type HistoryChange, historyState, listHistory, restoreHistory } from "../../../orchestration/api/history.ts";
import { useState } from "preact/hooks";
import { query, withQuery } from "../../browser/router.ts";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/load.ts";
import { activity } from "../../data/model.ts";
import { say } from "../../data/notices.ts";
import { lacks } from "../../data/session.ts";
import { Button } from "../../parts/button.tsx";
import { ChangeTable } from "../../parts/change-table.tsx";
import { type Action, ask } from "../../parts/dialog.tsx";
import { EventList, joined } from "../../parts/event-list.tsx";
import { Shown } from "../../parts/loaded.tsx";
import { Empty } from "../../parts/notes.tsx";
import { PlanList } from "../../parts/plan-list.tsx";
import { State } from "../../parts/state.tsx";
import { Ago } from "../../parts/time.tsx";
import { specChanges } from "../../text/changes.ts";
import { byText, causeText } from "../../text/states.ts";
import { exactText } from "../../text/times.ts";
import { hindrance } from "./buttons.tsx";

export function Events({ app }: { app: AppDetail }) {
  const { scope, name } = app;
  const loaded = useLoad(`${scope}/${name}`, (signal) =>
    api.call(listActivity, { query: { app: `${scope}/${name}`, limit: 200 }, signal }),
  );
  const own = activity.value.filter((event) => event.scope === scope && event.name === name);
  return (
    <Shown of={loaded} label="the events">
      {({ events }) => <EventList events={joined(own, events)} />}
    </Shown>
  );
}

const pageRows = 50;

/** Every state of the app that was wanted, newest first; the chosen one with what it changed. */
export function History({ app }: { app: AppDetail }) {
  const { scope, name, revision } = app;
  /** The last change of each page before this one. */
  const [pages, setPages] = useState<readonly number[]>([]);
  const before = pages.at(-1);
  const loaded = useLoad(
    `history ${scope}/${name} ${before ?? ""}`,
    // One more: what the oldest row of the page changed is against the one before it.
    (signal) => api.call(listHistory, { query: { scope, name, before, limit: pageRows + 1 }, signal }),
    before === undefined ? String(revision) : "",
  );
  return (
    <Shown of={loaded} label="the history">
      {({ changes, begins }) => (
        <>
          {changes.length === 0 ? (
            <Empty title="No change yet">
              <p>Applies, scales, rollbacks and deletes show here, with who asked for them and why.</p>
            </Empty>
          ) : (
            <ol class="card releases">
              {changes.slice(0, pageRows).map((row, index) => {
                const isSame = (one: HistoryChange) => one.kind === row.kind && one.name === row.name;
                return <Change key={row.seq} row={row} was={changes.slice(index + 1).find(isSame)} app={app} />;
              })}
            </ol>
          )}
          <div class="row">
            {before === undefined ? null : <Button onClick={() => setPages(pages.slice(0, -1))}>Newer</Button>}
            {changes.length <= pageRows ? null : (
              <Button onClick={() => setPages([...pages, changes[pageRows - 1]?.seq ?? 0])}>Older</Button>
            )}
          </div>
          {begins === undefined ? null : (
            <p class="small soft">{`The history begins at ${exactText(Date.parse(begins))}.`}</p>
          )}
        </>
      )}
    </Shown>
  );
}

const outcomeTones = { created: "good", changed: "work", deleted: "bad", known: "idle" } as const;

interface Changed {
  row: HistoryChange;
  /** The change of the same resource before this one. */
  was: HistoryChange | undefined;
  app: AppDetail;
}

/** Kinds other than that of the app are named. */
function Change({ row, was, app }: Changed) {
  const { seq, at, kind, outcome, cause, why, changed = [] } = row;
  const isChosen = query.value.get("change") === String(seq);
  const state = cause === "begin" ? "known" : outcome;
  return (
    <li>
      <div class="release">
        <State tone={outcomeTones[state]} text={state} />
        <div>
          <a href={withQuery({ change: isChosen ? undefined : String(seq) })} aria-expanded={isChosen}>
            {why ?? (cause === "begin" ? "wanted when the history began" : causeText(cause))}
          </a>
          <p class="small soft">
            {kind === app.kind ? "" : `${kind}, `}
            {`${causeText(cause)} by ${byText(row)}, `}
            <Ago at={at} />
          </p>
          {changed.length === 0 ? null : <p class="small mono">{changed.join(", ")}</p>}
        </div>
      </div>
      {isChosen ? <Difference row={row} was={was} app={app} /> : null}
    </li>
  );
}

function Difference({ row, was, app }: Changed) {
  const { seq, at, kind, scope, name, outcome, cause, changed = [] } = row;
  const specAt = async (time: string, signal: AbortSignal) => {
    const { manifests } = await api.call(historyState, { query: { at: time, scope, name }, signal });
    return manifests.find((one) => one.kind === kind)?.spec;
  };
  const loaded = useLoad(`change ${seq}`, async (signal) => {
    // The state before it is older than the history, or than what is listed.
    if (was === undefined && outcome === "changed" && cause !== "begin") return [];
    const before = was === undefined || outcome === "created" ? undefined : await specAt(was.at, signal);
    return specChanges(before, outcome === "deleted" ? undefined : await specAt(at, signal));
  });
  return (
    <div class="inset">
      <Shown of={loaded} label="what it changed">
        {(changes) => {
          const hidden = changed.filter((path) => !changes.some((change) => change.path.startsWith(path)));
          return (
            <>
              {changes.length === 0 && hidden.length > 0 ? null : <ChangeTable changes={changes} from="before" />}
              {hidden.length === 0 ? null : <p class="small soft">{`Changed, but not shown: ${hidden.join(", ")}`}</p>}
              <p>
                <Button hindrance={hindrance(app) ?? lacks("admin")} onClick={() => ask(goBackAction(app, at))}>
                  Go back to this state…
                </Button>
              </p>
            </>
          );
        }}
      </Shown>
    </div>
  );
}

/** Shows what an apply of the state of a time would change, and does it. */
function goBackAction({ scope, name }: AppDetail, at: string): Action {
  const query = { at, scope, name };
  const time = exactText(Date.parse(at));
  const command = `berth restore --manifests --at ${at} ${scope}/${name}`;
  const first: Action = {
    title: `Go back to the state of ${time}`,
    verb: "Show the plan",
    command,
    effects: [
      { text: `What was wanted of ${scope}/${name} then is applied, and what was not wanted then is deleted` },
      { text: "Config and the data of volumes stay as they are now" },
    ],
    run: async () => {
      const plan = await api.call(restoreHistory, { query: { ...query, dry_run: true } });
      const { plan: rows = [], newest } = plan;
      const ends = rows.some(({ action }) => action === "delete");
      return {
        title: `The plan of going back to ${time}`,
        ...(rows.length === 0 ? {} : { verb: "Go back" }),
        danger: ends,
        ...(ends ? { type: `${scope}/${name}` } : {}),
        command,
        effects: [],
        body: () => <PlanList plan={plan} />,
        back: () => first,
        run: async () => {
          // The server refuses it where something was changed since the plan.
          await api.call(restoreHistory, { query: { ...query, expect: newest } });
          say(`${scope}/${name} goes back to the state of ${time}`, "work");
        },
      };
    },
  };
  return first;
}
