import { listActivity } from "../../../observability/api/activity.ts";
import type { AppDetail } from "../../../observability/api/apps.ts";
import { type HistoryChange, historyState, listHistory } from "../../../orchestration/api/history.ts";
import { query, withQuery } from "../../browser/router.ts";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/load.ts";
import { activity } from "../../data/model.ts";
import { ChangeTable } from "../../parts/change-table.tsx";
import { EventList, joined } from "../../parts/event-list.tsx";
import { Shown } from "../../parts/loaded.tsx";
import { Empty } from "../../parts/notes.tsx";
import { State } from "../../parts/state.tsx";
import { Ago } from "../../parts/time.tsx";
import { specChanges } from "../../text/changes.ts";
import { byText, causeText } from "../../text/states.ts";
import { exactText } from "../../text/times.ts";

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

const rowsMax = 200;

/** Every state of the app that was wanted, newest first; the chosen one with what it changed. */
export function History({ app: { scope, name, kind, revision } }: { app: AppDetail }) {
  const loaded = useLoad(
    `history ${scope}/${name}`,
    (signal) => api.call(listHistory, { query: { scope, name, limit: rowsMax }, signal }),
    String(revision),
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
              {changes.map((row, index) => {
                const isSame = (one: HistoryChange) => one.kind === row.kind && one.name === row.name;
                return <Change key={row.seq} row={row} was={changes.slice(index + 1).find(isSame)} own={kind} />;
              })}
            </ol>
          )}
          {begins === undefined ? null : (
            <p class="small soft">
              {`The history begins at ${exactText(Date.parse(begins))}. ${changes.length < rowsMax ? "" : `The newest ${rowsMax} changes are shown.`}`}
            </p>
          )}
        </>
      )}
    </Shown>
  );
}

const outcomeTones = { created: "good", changed: "work", deleted: "bad", known: "idle" } as const;

/** `was`: the change of the same resource before this one. `own`: the kind of the app; others are named. */
function Change({ row, was, own }: { row: HistoryChange; was: HistoryChange | undefined; own: string }) {
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
            {kind === own ? "" : `${kind}, `}
            {`${causeText(cause)} by ${byText(row)}, `}
            <Ago at={at} />
          </p>
          {changed.length === 0 ? null : <p class="small mono">{changed.join(", ")}</p>}
        </div>
      </div>
      {isChosen ? <Difference row={row} was={was} /> : null}
    </li>
  );
}

function Difference({ row, was }: { row: HistoryChange; was: HistoryChange | undefined }) {
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
              <p class="small soft">
                {"To go back to this state, type on the server: "}
                <code>{`berth restore --manifests --at ${at} ${scope}/${name}`}</code>
              </p>
            </>
          );
        }}
      </Shown>
    </div>
  );
}
