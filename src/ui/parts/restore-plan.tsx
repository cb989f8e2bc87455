import {
  beginRestore,
  type PlannedRestore,
  type planRestore,
  type RestoreBody,
  undoRestore,
} from "../../backups/api/restore.ts";
import { haveEnded } from "../../backups/api/protection.ts";
import type { DataOf } from "../../base/wire/endpoint.ts";
import { api } from "../data/api.ts";
import { begunRestores, followRestores } from "../data/copies.ts";
import { lacks } from "../data/session.ts";
import { placeText, restoreEffects, restoreTones } from "../text/backups.ts";
import { bytesText, many } from "../text/figures.ts";
import {
  appText,
  outcomeText,
  partText,
  planNotes,
  restoreLine,
  restoreTime,
  type Undoable,
  undoable,
} from "../text/restores.ts";
import { exactText } from "../text/times.ts";
import { Button } from "./button.tsx";
import { type Action, ask } from "./dialog.tsx";
import { Note } from "./notes.tsx";
import { State } from "./state.tsx";
import { Ago } from "./time.tsx";

type Plan = DataOf<typeof planRestore>;

/** Shows what the server would do, and does it. */
export function planAction({ body, plan }: { body: RestoreBody; plan: Plan }, back: () => Action): Action {
  const { scope, name = "" } = body;
  const app = scope === undefined ? many(plan.volumes.length, "missing volume") : appText({ scope, name });
  const replaces = plan.volumes.some((one) => one.replaces);
  return {
    title: replaces ? `Replace the data of ${app}` : `Restore ${app}: the plan`,
    verb: replaces ? "Replace the data" : "Restore",
    danger: replaces,
    type: replaces ? app : undefined,
    command: restoreLine(body),
    effects: [...restoreEffects(plan.volumes), { text: restoreTime(plan) }],
    body: () => <PlanBody plan={plan} />,
    back,
    run: async () => {
      // With this time the server takes the copies that were shown, also where a newer one has come meanwhile.
      const begun = await api.call(beginRestore, { body: { ...body, at: body.at ?? plan.at } });
      return progressAction(`Restore of ${app}`, begun);
    },
  };
}

function PlanBody({ plan }: { plan: Plan }) {
  return (
    <>
      <ul class="card steps" aria-label="What is restored">
        {plan.volumes.map((one) => (
          <PlanRow key={one.what} one={one} />
        ))}
      </ul>
      {planNotes(plan).map((text) => (
        <Note key={text} tone="warn">
          {text}
        </Note>
      ))}
    </>
  );
}

function PlanRow({ one }: { one: PlannedRestore }) {
  const { at, target, bytes } = one;
  return (
    <li>
      <strong>{partText(one)}</strong>
      <p>
        {`the copy of ${exactText(Date.parse(at))} (`}
        <Ago at={at} />
        {`), ${bytesText(bytes)} from ${target}, ${placeText(one)}`}
      </p>
    </li>
  );
}

function progressAction(title: string, begun: DataOf<typeof beginRestore>): Action {
  void followRestores(begun);
  return {
    title,
    effects: [],
    command: "berth backup restores",
    body: () => <Progress group={begun.group} />,
  };
}

function Progress({ group }: { group: string }) {
  const rows = begunRestores.value[group] ?? [];
  const isOver = haveEnded(rows);
  const [back] = rows.flatMap((row) => undoable(row, rows) ?? []);
  const failed = rows.some(({ error }) => error !== undefined);
  return (
    <>
      <ul class="card steps" aria-label="How it goes" aria-live="polite">
        {rows.map((row) => (
          <li key={row.id}>
            <State tone={restoreTones[row.state]} text={row.state} />
            <p class={row.error === undefined ? undefined : "bad"}>{outcomeText(row)}</p>
          </li>
        ))}
      </ul>
      {isOver ? null : <p class="soft">This goes on when you close it; the screen Backups shows how it ends.</p>}
      {failed ? <p>Where it failed, the data is as it was before.</p> : null}
      {isOver && back !== undefined ? (
        <div class="row">
          <Button onClick={() => ask(undoAction(rows.length === 1 ? back : { ...back, volume: undefined }))}>
            Undo…
          </Button>
          <span class="soft small">
            {"What was there before is kept; it is removed "}
            <Ago at={rows[0]?.kept_until} />
          </span>
        </div>
      ) : null}
    </>
  );
}

/** Brings back what a restore in place has replaced. */
export function UndoButton({ of }: { of: Undoable }) {
  return (
    <Button look="bare" hindrance={lacks("admin")} onClick={() => ask(undoAction(of))}>
      Undo…
    </Button>
  );
}

function undoAction({ scope, name, volume }: Undoable): Action {
  const app = appText({ scope, name });
  const what = volume === undefined ? app : `${app}/${volume}`;
  return {
    title: `Undo the restore of ${what}`,
    verb: "Undo the restore",
    danger: true,
    type: app,
    command: `berth backup restore --undo ${app}${volume === undefined ? "" : ` --volume ${volume}`}`,
    effects: [
      { text: `The app stops for a moment, the data of before the restore takes its place again, and the app starts` },
      { text: "What was written since the restore is gone", ends: true },
    ],
    run: async () => {
      const begun = await api.call(undoRestore, { body: { scope, name, volume } });
      return progressAction(`Undo of the restore of ${what}`, begun);
    },
  };
}
