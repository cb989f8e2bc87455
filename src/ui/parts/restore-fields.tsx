import type { Signal } from "@preact/signals";
import type { FoundCopies } from "../data/copies.ts";
import { bytesText, many } from "../text/figures.ts";
import { appText, type CopiedApp, type CopyPoint, pointBytes, volumesText } from "../text/restores.ts";
import { exactText } from "../text/times.ts";
import { Note } from "./notes.tsx";
import { Ago } from "./time.tsx";

/** What was chosen so far; it stays while the plan is looked at. */
export type Choice = Record<"app" | "volume" | "point" | "path", Signal<string | undefined>> & {
  found: Signal<FoundCopies | undefined>;
  way: Signal<keyof typeof ways>;
};

const ways = {
  in_place: { title: "In place", text: "the copy takes the place of the data of now, which is kept for some days" },
  beside: { title: "Beside", text: "into a new volume of the scope; the data of now stays as it is" },
} as const;

export const pointKey = ({ at, target }: CopyPoint) => `${at} ${target}`;

/** One of several; `options` are value and text. */
export function Select(props: {
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

/** Which copy. */
export function Points(props: { points: readonly CopyPoint[]; chosen: CopyPoint; isOne: boolean; choice: Choice }) {
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

/** Where the data goes. */
export function Ways({ app, way, choice }: { app: CopiedApp; way: keyof typeof ways; choice: Choice }) {
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

/** A part of a volume, which can go in place alone. */
export function PathField({ path }: Pick<Choice, "path">) {
  return (
    <div class="field">
      <label for="restore-path">Only this file or folder of it (all of it, if left empty)</label>
      <input
        id="restore-path"
        class="input mono"
        value={path.value ?? ""}
        placeholder="etc/app.conf"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          path.value = event.currentTarget.value;
        }}
      />
    </div>
  );
}
