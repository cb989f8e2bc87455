import { type Signal, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { planRestore } from "../../backups/api/restore.ts";
import { api } from "../data/api.ts";
import { findCopies, type FoundCopies } from "../data/copies.ts";
import { useLoad } from "../data/load.ts";
import { apps } from "../data/model.ts";
import { lacks } from "../data/session.ts";
import { bytesText, many } from "../text/figures.ts";
import {
  appText,
  type CopiedApp,
  copiedApps,
  type CopyPoint,
  copyPoints,
  pointBytes,
  restoreBody,
  restoreLine,
  volumesText,
} from "../text/restores.ts";
import { exactText } from "../text/times.ts";
import { Button } from "./button.tsx";
import { type Action, ask } from "./dialog.tsx";
import { Shown } from "./loaded.tsx";
import { Empty, Note } from "./notes.tsx";
import { planAction } from "./restore-plan.tsx";
import { Ago } from "./time.tsx";

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

/** What was chosen so far; it stays while the plan is looked at. */
type Choice = Record<"app" | "volume" | "point", Signal<string | undefined>> & {
  from: From;
  found: Signal<FoundCopies | undefined>;
  way: Signal<keyof typeof ways>;
};

const ways = {
  in_place: { title: "In place", text: "the copy takes the place of the data of now, which is kept for some days" },
  beside: { title: "Beside", text: "into a new volume of the scope; the data of now stays as it is" },
} as const;

const pointKey = ({ at, target }: CopyPoint) => `${at} ${target}`;

/** What the choice means with the copies that there are. */
function chosenOf({ from, found, ...choice }: Choice) {
  const list = found.value === undefined ? [] : copiedApps(found.value.snapshots, apps.value);
  const app = list.find((one) => appText(one) === choice.app.value) ?? (from.app === undefined ? list[0] : undefined);
  const volume = app?.volumes.find((one) => one === choice.volume.value);
  const points = found.value === undefined || app === undefined ? [] : copyPoints(found.value, app, volume);
  const preferred = points.find(({ target }) => target === from.target) ?? points[0];
  const point = points.find((one) => pointKey(one) === choice.point.value) ?? preferred;
  // There is no place for it any more.
  const way = app?.isGone ? "beside" : choice.way.value;
  return { list, app, volume, points, point, way } as const;
}

function chooseAction(from: From): Action {
  const choice: Choice = {
    from,
    found: signal(undefined),
    app: signal(from.app),
    volume: signal(undefined),
    point: signal(undefined),
    way: signal("in_place"),
  };
  const bodyOf = () => {
    const { app, volume, point, way } = chosenOf(choice);
    return app === undefined || point === undefined ? undefined : restoreBody({ app, volume, point }, way);
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
    body: () => <Choose choice={choice} />,
    run: async () => {
      const body = bodyOf();
      if (body === undefined) return undefined;
      const plan = await api.call(planRestore, { body });
      return planAction({ body, plan, restores: choice.found.value?.restores ?? [] }, () => choosing);
    },
  };
  return choosing;
}

function Choose({ choice }: { choice: Choice }) {
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
          <Choices choice={choice} />
        </>
      )}
    </Shown>
  );
}

function Choices({ choice }: { choice: Choice }) {
  const box = useRef<HTMLDivElement>(null);
  // They come after the dialog, which has focused what it had then.
  useEffect(() => box.current?.querySelector<HTMLElement>("select, input:checked")?.focus(), []);
  const { list, app, volume, points, point, way } = chosenOf(choice);
  if (app === undefined || point === undefined)
    return (
      <Empty title={choice.from.app === undefined ? "No copy of a volume yet" : `No copy of ${choice.from.app} yet`}>
        <p>A protected app has one after its next copy; Copy now makes one at once.</p>
      </Empty>
    );
  return (
    <div ref={box} class="section">
      {choice.from.app === undefined ? (
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
    </div>
  );
}

/** `options`: value and text. */
function Select(props: {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  chosen: Signal<string | undefined>;
}) {
  const { label, value, options, chosen } = props;
  return (
    <div class="field">
      <label for={`restore ${label}`}>{label}</label>
      <select
        id={`restore ${label}`}
        class="input"
        value={value}
        onChange={(event) => {
          chosen.value = event.currentTarget.value;
        }}
      >
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

function Points(props: { points: readonly CopyPoint[]; chosen: CopyPoint; isOne: boolean; choice: Choice }) {
  const { points, chosen, isOne, choice } = props;
  return (
    <fieldset class="pick">
      <legend>{`Which copy: ${many(points.length, "copy", "copies")}, the newest first`}</legend>
      <div class="card points">
        {points.map((point) => {
          const bytes = pointBytes(point);
          return (
            <label key={pointKey(point)}>
              <input
                type="radio"
                name="point"
                checked={point === chosen}
                onChange={() => {
                  choice.point.value = pointKey(point);
                }}
              />
              <span>{exactText(Date.parse(point.at))}</span>
              <span class="soft small">
                <Ago at={point.at} />
                {isOne ? null : `, ${volumesText(point)}`}
                {bytes === undefined ? null : `, ${bytesText(bytes)}`}
                {` at ${point.target}`}
              </span>
            </label>
          );
        })}
      </div>
    </fieldset>
  );
}

const goneText =
  "Its data can go into a new volume only. To have it in its old place, apply the manifest of the app first.";

function Ways({ app, way, choice }: { app: CopiedApp; way: keyof typeof ways; choice: Choice }) {
  const list = app.isGone ? (["beside"] as const) : (["in_place", "beside"] as const);
  return (
    <fieldset class="pick">
      <legend>Where to</legend>
      {app.isGone ? <Note tone="warn">{`${appText(app)} was deleted. ${goneText}`}</Note> : null}
      {list.map((one) => (
        <label key={one}>
          <input
            type="radio"
            name="way"
            checked={way === one}
            onChange={() => {
              choice.way.value = one;
            }}
          />
          <span>{ways[one].title}</span>
          <span class="soft small">{ways[one].text}</span>
        </label>
      ))}
    </fieldset>
  );
}
