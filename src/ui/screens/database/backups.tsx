import { signal } from "@preact/signals";
import type { BlockView } from "../../../observability/api/plugins.ts";
import { useLoad } from "../../data/load.ts";
import { may } from "../../data/session.ts";
import { Button } from "../../parts/button.tsx";
import { ask } from "../../parts/dialog.tsx";
import { Shown } from "../../parts/loaded.tsx";
import { Denied, Empty, Note } from "../../parts/notes.tsx";
import { State } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import {
  type Backup,
  fieldTime,
  readBackups,
  readTimes,
  type RestorableTimes,
  restorableTime,
} from "../../text/databases.ts";
import { bytesText } from "../../text/figures.ts";
import { exactText } from "../../text/times.ts";
import { begin, commandOf, databasePath, has, missing, movesOf, named, read } from "./of.ts";

/** The backups that there are, newest first, and what brings one back. */
export function Backups({ block }: { block: BlockView }) {
  const loaded = useLoad(
    `backups ${databasePath(block)}`,
    (signal) => (has(block, "backups") ? read(block, "backups", signal).then(readBackups) : Promise.resolve([])),
    movesOf(block),
  );
  if (!has(block, "backups")) return null;
  return (
    <section class="section">
      <h2>Backups</h2>
      <Shown of={loaded} label="the backups">
        {(backups) =>
          backups.length === 0 ? (
            <Empty title="No backup yet">
              <p>Press Back up now, or write a schedule into the block: {'backups: { schedule: "30 3 * * *" }'}</p>
            </Empty>
          ) : (
            <Table
              label="Backups"
              rows={backups}
              keyOf={({ id }) => id}
              columns={[
                { title: "Backup", cell: ({ id }) => <code>{id}</code> },
                { title: "Age", cell: ({ at }) => <Ago at={at} /> },
                { title: "Size", right: true, cell: ({ bytes }) => bytesText(bytes) },
                { title: "Holds", cell: ({ holds }) => holds },
                { title: "Check", cell: (backup) => <Check backup={backup} /> },
                { title: "", right: true, cell: (backup) => <Buttons block={block} backup={backup} /> },
              ]}
            />
          )
        }
      </Shown>
    </section>
  );
}

/** What a restore for a check came to. */
function Check({ backup: { check, reason } }: { backup: Backup }) {
  if (check === undefined) return null;
  const text = reason === "" ? checkTexts[check] : `${checkTexts[check]}: ${reason}`;
  return <State tone={checkTones[check]} text={text} />;
}

const checkTexts = { passed: "passed", failed: "failed", unchecked: "not checked" };
const checkTones = { passed: "good", failed: "bad", unchecked: "idle" } as const;

function Buttons({ block, backup }: { block: BlockView; backup: Backup }) {
  const button = (command: string, text: string, onClick: () => void) => {
    const reason = missing(block, command);
    return (
      <Button look="bare" hindrance={reason} onClick={onClick}>
        {text}
      </Button>
    );
  };
  return (
    <span class="row end">
      {button("restore", "Restore…", () => askRestore(block, backup))}
      {button("backups:delete", "Delete…", () => askDelete(block, backup))}
    </span>
  );
}

const sqlEffects = [
  { text: "The backup is restored into a new database, and what it holds is compared" },
  { text: "Then it takes the name of the database: what was written since is not in it", ends: true },
  { text: "Connections to the database are cut", ends: true },
  { text: "The database of now stays under another name" },
];

const keyEffects = [
  { text: "The keys of now are backed up first" },
  { text: "Then the keys of the backup take their place: what was written since is not in it", ends: true },
];

/** PostgreSQL restores into a database of another name as well; Redis has no second place. */
function askRestore(block: BlockView, { id, check, reason }: Backup): void {
  const isSql = block.plugin === "postgres";
  const into = signal("");
  ask({
    title: `Restore ${named(block)} from ${id}`,
    verb: "Restore",
    danger: true,
    type: named(block),
    command: commandOf(block, `restore ${id}${isSql ? " --replace" : ""}`),
    effects: [
      ...(check === "failed" ? [{ text: `Its check failed, so this may fail too: ${reason}`, ends: true }] : []),
      ...(isSql ? sqlEffects : keyEffects),
    ],
    ...(isSql
      ? {
          body: () => (
            <div class="field">
              <label for="into">Into a new database instead, which changes nothing else (its name)</label>
              <input
                id="into"
                class="input mono"
                value={into.value}
                onInput={(event) => {
                  into.value = event.currentTarget.value;
                }}
              />
            </div>
          ),
        }
      : {}),
    run: () => {
      const where = into.value.trim() === "" ? ["--replace"] : ["--into", into.value.trim()];
      return begin(block, "restore", [id, ...(isSql ? where : [])]);
    },
  });
}

function askDelete(block: BlockView, { id, bytes }: Backup): void {
  ask({
    title: `Delete the backup ${id}`,
    verb: "Delete",
    danger: true,
    command: commandOf(block, `backups:delete ${id}`),
    effects: [{ text: `${bytesText(bytes)} are freed; nothing brings this backup back`, ends: true }],
    run: () => begin(block, "backups:delete", [id]),
  });
}

/** Times that the WAL of a database can bring back, and what does it. Databases without it show nothing. */
export function PointInTime({ block, sends }: { block: BlockView; sends: boolean }) {
  const isKnown = has(block, "times") && may("admin");
  const loaded = useLoad(`times ${databasePath(block)} ${isKnown}`, async (signal) =>
    isKnown ? readTimes(await read(block, "times", signal)) : undefined,
  );
  if (!has(block, "times") || (loaded.data === undefined && !sends)) return null;
  return (
    <section class="section">
      <h2>Any point in time</h2>
      {isKnown ? (
        <Shown of={loaded} label="the times" scope="admin">
          {(times) => (times === undefined ? null : <Times block={block} times={times} />)}
        </Shown>
      ) : (
        <Denied scope="admin" />
      )}
    </section>
  );
}

function Times({ block, times }: { block: BlockView; times: RestorableTimes }) {
  const { ranges, target, error } = times;
  return (
    <>
      {error === "" ? null : <Note tone="warn">{`WAL does not reach ${target} now: ${error}`}</Note>}
      <div class="card inset section">
        {ranges.length === 0 ? <p>{`No time yet: no base backup is at ${target}`}</p> : null}
        {ranges.map(({ from, to }) => (
          <p key={from}>{`any time from ${exactText(from)} to ${exactText(to)}`}</p>
        ))}
        <div class="row">
          <Button
            hindrance={
              missing(block, "restore") ?? (ranges.length === 0 ? "There is no time to restore yet" : undefined)
            }
            onClick={() => askRestoreAt(block, times)}
          >
            Restore to a time…
          </Button>
        </div>
      </div>
    </>
  );
}

function askRestoreAt(block: BlockView, { ranges, target }: RestorableTimes): void {
  const [first, newest] = [ranges[0], ranges.at(-1)];
  if (first === undefined || newest === undefined) return;
  const field = signal(fieldTime(newest.to));
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const utc = () => {
    const at = Date.parse(field.value);
    return Number.isNaN(at) ? "TIME" : new Date(at).toISOString();
  };
  ask({
    title: `Restore ${named(block)} to a point in time`,
    verb: "Restore",
    get command() {
      return commandOf(block, `restore --at ${utc()}`);
    },
    effects: [
      { text: `A new block beside it gets the data of that time from ${target}; nothing is linked to it` },
      { text: "The database of now, and what is linked to it, stay as they are" },
      { text: "It takes the disk and memory of another database until you delete it" },
    ],
    body: () => (
      <div class="field">
        <label for="time">{`Time, of the zone ${zone}`}</label>
        <input
          id="time"
          class="input mono"
          type="datetime-local"
          step="1"
          min={fieldTime(first.from)}
          max={fieldTime(newest.to)}
          value={field.value}
          onInput={(event) => {
            field.value = event.currentTarget.value;
          }}
        />
        {ranges.map(({ from, to }) => (
          <span key={from} class="small soft">{`possible: ${exactText(from)} to ${exactText(to)}`}</span>
        ))}
      </div>
    ),
    run: () => begin(block, "restore", ["--at", new Date(restorableTime(field.value, ranges)).toISOString()]),
  });
}
