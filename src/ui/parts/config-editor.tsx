import { signal } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import type { Activity } from "../../observability/api/activity.ts";
import type { ConfigKey, ConfigPatch } from "../../observability/api/settings.ts";
import { faultText } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { lacks } from "../data/session.ts";
import { many } from "../text/figures.ts";
import { Button } from "./button.tsx";
import { ConfigAdder, review } from "./config-draft.tsx";
import { Keys } from "./config-keys.tsx";
import { Shown } from "./loaded.tsx";
import { Note } from "./notes.tsx";
import { Ago } from "./time.tsx";
import { conflictsOf, type Draft, without } from "../text/config.ts";
import { say } from "../data/notices.ts";

interface Changed {
  changed: readonly string[];
  restarting: readonly string[];
  notes: readonly string[];
}

interface ConfigEditorProps {
  /** `shop/web`, or a scope. */
  name: string;
  /** Changes of it as they happen, the newest first. */
  events: readonly Activity[];
  /** Another one: the keys are loaded again. */
  version: string;
  load: (signal: AbortSignal) => Promise<{ keys: ConfigKey[] }>;
  reveal: (keys: string[]) => Promise<{ vars: Record<string, string> }>;
  change: (patch: ConfigPatch, restart: boolean) => Promise<Changed>;
}

const revealedMs = 30_000;
const filterFrom = 8;

interface Edited {
  draft: Draft;
  /** The newest change that the viewer had seen when the draft began. */
  since: number;
}

/** Drafts of this page, by the name of what they change: another tab of the app does not lose them. They are nowhere else. */
const drafts = signal<ReadonlyMap<string, Edited>>(new Map());

addEventListener("beforeunload", (event) => {
  if (drafts.value.size > 0) event.preventDefault();
});

function keep(name: string, edited: Edited): void {
  const next = new Map(drafts.value);
  if (Object.keys(edited.draft).length === 0) next.delete(name);
  else next.set(name, edited);
  drafts.value = next;
}

/** Keys without values; what is changed is reviewed and stored in one step, so that the app restarts once. */
export function ConfigEditor({ name, events, version, load, reveal, change }: ConfigEditorProps) {
  const newest = events[0]?.seq ?? 0;
  const loaded = useLoad(name, load, version);
  const { draft, since } = drafts.value.get(name) ?? { draft: {}, since: newest };
  const setDraft = (next: Draft) => keep(name, { draft: next, since });
  const conflicts = conflictsOf(draft, events, since);
  const [typed, setTyped] = useState("");
  const [edited, setEdited] = useState("");
  const latest = useRef(events);
  latest.current = events;
  const ownOrigin = name.includes("/") ? "app" : "scope";
  const count = Object.keys(draft).length;
  const { shown, show, copy, hide } = useValues(reveal);
  const store = () =>
    review({ name, draft, known: loaded.data?.keys.map(({ key }) => key) ?? [] }, async (patch, restart) => {
      // Somebody may have stored another value while the question was open.
      const [clash] = conflictsOf(drafts.value.get(name)?.draft ?? {}, latest.current, since);
      if (clash !== undefined)
        throw new Error(`${clash.by} has just changed ${clash.key}: close this and look at both values`);
      const { changed, restarting } = await change(patch, restart);
      setDraft({});
      hide();
      loaded.again();
      const rolled = restarting.length === 0 ? "" : `; restarting: ${restarting.join(", ")}`;
      say(`${many(changed.length, "key")} changed${rolled}`, "work");
    });
  return (
    <section class="section">
      <Head count={count} isOpen={conflicts.length > 0} drop={() => setDraft({})} store={store} />
      <Conflicts
        list={conflicts}
        draft={draft}
        take={(key) => setDraft(without(draft, key))}
        keepMine={() => keep(name, { draft, since: newest })}
      />
      {(loaded.data?.keys.length ?? 0) < filterFrom ? null : <Search typed={typed} onType={setTyped} />}
      <Shown of={loaded} label="the keys">
        {({ keys }) => (
          <Keys
            keys={keys.filter(({ key }) => key.toLowerCase().includes(typed.toLowerCase()))}
            copy={copy}
            draft={draft}
            shown={shown}
            show={show}
            edit={setEdited}
            set={(more) => setDraft({ ...draft, ...more })}
          />
        )}
      </Shown>
      <ConfigAdder
        key={edited}
        first={edited}
        own={loaded.data?.keys.filter(({ origin }) => origin === ownOrigin).map(({ key }) => key) ?? []}
        set={(more) => setDraft({ ...draft, ...more })}
      />
    </section>
  );
}

/** `isOpen`: conflicts are not decided. */
function Head({ count, isOpen, drop, store }: { count: number; isOpen: boolean; drop: () => void; store: () => void }) {
  const hindrance = isOpen ? "Decide first which of the two values stays" : undefined;
  return (
    <header>
      <h2>Config</h2>
      <span class="row">
        {count === 0 ? null : <Button onClick={drop}>Drop changes</Button>}
        <Button look="main" hindrance={lacks("actions") ?? hindrance} disabled={count === 0} onClick={store}>
          {count === 0 ? "Review" : `Review ${many(count, "change")}…`}
        </Button>
      </span>
    </header>
  );
}

function Search({ typed, onType }: { typed: string; onType: (typed: string) => void }) {
  return (
    <input
      class="input narrow"
      type="search"
      aria-label="Search keys"
      placeholder="a part of a key"
      value={typed}
      onInput={(event) => onType(event.currentTarget.value)}
    />
  );
}

/** Values that the viewer may see: shown for a while, or copied unseen. */
function useValues(reveal: ConfigEditorProps["reveal"]) {
  const [shown, setShown] = useState<Record<string, string>>({});
  const show = async (key: string) => {
    try {
      const { vars } = await reveal([key]);
      setShown((before) => ({ ...before, ...vars }));
      // A screen that somebody leaves open does not keep the secret on it.
      setTimeout(() => setShown(({ [key]: _, ...rest }) => rest), revealedMs);
    } catch (error) {
      say(faultText(error), "bad");
    }
  };
  const copy = async (key: string) => {
    try {
      await navigator.clipboard?.writeText((await reveal([key])).vars[key] ?? "");
      say(`${key} is copied`);
    } catch (error) {
      say(faultText(error), "bad");
    }
  };
  return { shown, show, copy, hide: () => setShown({}) };
}

function Conflicts({
  list,
  draft,
  take,
  keepMine,
}: {
  list: ReturnType<typeof conflictsOf>;
  draft: Draft;
  take: (key: string) => void;
  keepMine: () => void;
}) {
  return list.map(({ key, by, at }) => (
    <Note key={key} tone="warn">
      {`${by} changed ${key} `}
      <Ago at={at} />
      {draft[key] === null
        ? ", and you unset it. "
        : `, and you changed it too. Reveal shows the stored value; yours is ${JSON.stringify(draft[key])}. `}
      <Button look="bare" onClick={() => take(key)}>
        Take theirs
      </Button>
      <Button look="bare" onClick={keepMine}>
        Keep mine
      </Button>
    </Note>
  ));
}
