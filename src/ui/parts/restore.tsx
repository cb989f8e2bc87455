import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { planRestore } from "../../backups/api/restore.ts";
import { api } from "../data/api.ts";
import { findCopies } from "../data/copies.ts";
import { useLoad } from "../data/load.ts";
import { apps, known } from "../data/model.ts";
import { lacks } from "../data/session.ts";
import { appText, copiedApps, copyPoints, restoreBody, restoreLine } from "../text/restores.ts";
import { Button } from "./button.tsx";
import { type Action, ask } from "./dialog.tsx";
import { Shown } from "./loaded.tsx";
import { Empty, Loading, Note } from "./notes.tsx";
import { type Choice, PathField, pointKey, Points, Select, Ways } from "./restore-fields.tsx";
import { planAction } from "./restore-plan.tsx";

/**
 * `app`: SCOPE/NAME; without it the dialog asks for it, and offers apps that were deleted as well. `target`: the newest copy
 * there is chosen first.
 */
type From = { app?: string; target?: string };

/** Opens the dialog that brings data back: which copy, then the plan, then how it goes. */
export function RestoreButton({ look, hindrance, ...from }: From & { look?: "bare"; hindrance?: string | undefined }) {
  return (
    <Button
      {...(look === undefined ? {} : { look })}
      hindrance={lacks("admin") ?? lacks("host:read") ?? hindrance}
      onClick={() => ask(chooseAction(from))}
    >
      Restore…
    </Button>
  );
}

/** Opens the plan of what an empty machine needs: every volume that it does not have, from its newest copy. */
export function MissingButton({ hindrance }: { hindrance: string | undefined }) {
  const body = {};
  const first: Action = {
    title: "Restore what is missing",
    verb: "Show the plan",
    command: restoreLine(body),
    effects: [
      { text: "Each volume of an app that this machine does not have comes back from its newest copy" },
      { text: "What is there stays as it is" },
      { text: "Apps that wait for a volume start by themselves" },
    ],
    run: async () => planAction({ body, plan: await api.call(planRestore, { body }) }, () => first),
  };
  return (
    <Button hindrance={lacks("admin") ?? lacks("host:read") ?? hindrance} onClick={() => ask(first)}>
      Restore missing…
    </Button>
  );
}

/** What the choice means with the copies that there are. */
function chosenOf({ found, ...choice }: Choice, from: From) {
  const list = found.value === undefined ? [] : copiedApps(found.value.snapshots, apps.value);
  const app = list.find((one) => appText(one) === choice.app.value) ?? (from.app === undefined ? list[0] : undefined);
  const volume = app?.volumes.find((one) => one === choice.volume.value);
  const points = found.value === undefined || app === undefined ? [] : copyPoints(found.value, app, volume);
  const preferred = points.find(({ target }) => target === from.target) ?? points[0];
  const point = points.find((one) => pointKey(one) === choice.point.value) ?? preferred;
  // There is no place for it any more.
  const way = app?.isGone ? "beside" : choice.way.value;
  const isOne = volume !== undefined || app?.volumes.length === 1;
  const path = isOne && way === "in_place" ? choice.path : undefined;
  return { list, app, volume, points, point, way, path } as const;
}

function chooseAction(from: From): Action {
  const choice: Choice = {
    found: signal(undefined),
    app: signal(from.app),
    volume: signal(undefined),
    point: signal(undefined),
    path: signal(undefined),
    way: signal("in_place"),
  };
  const bodyOf = () => {
    const { app, volume, point, way, path } = chosenOf(choice, from);
    if (app === undefined || point === undefined) return undefined;
    return restoreBody({ app, volume, point, path: path?.value }, way);
  };
  const choosing: Action = {
    title: from.app === undefined ? "Restore from a copy" : `Restore ${from.app} from a copy`,
    effects: [],
    get verb() {
      return bodyOf() === undefined ? undefined : "Show the plan";
    },
    get command() {
      const body = bodyOf();
      return body === undefined ? "berth backup list" : restoreLine(body);
    },
    body: () => <Choose choice={choice} from={from} />,
    run: async () => {
      const body = bodyOf();
      if (body === undefined) return undefined;
      const plan = await api.call(planRestore, { body });
      return planAction({ body, plan }, () => choosing);
    },
  };
  return choosing;
}

function Choose({ choice, from }: { choice: Choice; from: From }) {
  const loaded = useLoad("copies to restore", async (signal) => {
    choice.found.value ??= await findCopies(signal);
    return choice.found.value;
  });
  return (
    <Shown of={loaded} label="the copies" scope="host:read">
      {({ unreachable }) => (
        <>
          {unreachable.map(({ target, why }) => (
            <Note key={target} tone="warn">{`The copies at ${target} cannot be listed now: ${why}`}</Note>
          ))}
          {known.value ? <Choices choice={choice} from={from} /> : <Loading label="the apps" />}
        </>
      )}
    </Shown>
  );
}

function Choices({ choice, from }: { choice: Choice; from: From }) {
  const box = useRef<HTMLDivElement>(null);
  // They come after the dialog, which has focused what it had then.
  useEffect(() => box.current?.querySelector<HTMLElement>("select, input:checked")?.focus(), []);
  const { list, app, volume, points, point, way, path } = chosenOf(choice, from);
  if (app === undefined || point === undefined)
    return (
      <Empty title={from.app === undefined ? "No copy of a volume yet" : `No copy of ${from.app} yet`}>
        <p>A protected app has one after its next copy; Copy now makes one at once.</p>
      </Empty>
    );
  return (
    <div ref={box} class="section">
      {from.app === undefined ? (
        <Select
          label="App"
          value={appText(app)}
          options={list.map((one) => [appText(one), one.isGone ? `${appText(one)} (deleted)` : appText(one)])}
          chosen={choice.app}
        />
      ) : null}
      {app.volumes.length === 1 ? null : (
        <Select
          label="Volumes"
          value={volume ?? ""}
          options={[["", `all ${app.volumes.length}`], ...app.volumes.map((one) => [one, one] as const)]}
          chosen={choice.volume}
        />
      )}
      <Points points={points} chosen={point} isOne={app.volumes.length === 1} choice={choice} />
      <Ways app={app} way={way} choice={choice} />
      {path === undefined ? null : <PathField path={path} />}
    </div>
  );
}
