import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { go } from "../browser/router.ts";
import { matches } from "../text/match.ts";

/** Something that the palette leads to. */
export interface Entry {
  title: string;
  /** What it is: `app`, `screen`, `action`. */
  sort: string;
  href?: string;
  run?: () => void;
}

/** What the page that is shown adds to it: it stands first. */
export const offered = signal<readonly Entry[]>([]);

const open = signal(false);
const shownMax = 60;

export function openPalette(): void {
  open.value = true;
}

/** Everything by its name. `entries` is asked each time it opens. */
export function Palette({ entries }: { entries: () => readonly Entry[] }) {
  return open.value ? <Opened entries={entries()} /> : null;
}

function Opened({ entries }: { entries: readonly Entry[] }) {
  const box = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const found = matches(entries, typed, ({ title, sort }) => `${title} ${sort}`).slice(0, shownMax);
  // Before the next frame: what is typed at once after the key that opens it belongs to its field.
  useLayoutEffect(() => box.current?.showModal(), []);
  useEffect(() => document.getElementById(`found-${at}`)?.scrollIntoView({ block: "nearest" }), [at]);
  const close = () => {
    open.value = false;
  };
  const choose = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    close();
    if (entry.href !== undefined) go(entry.href);
    entry.run?.();
  };
  const steer = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (step !== undefined) setAt(Math.max(0, Math.min(found.length - 1, at + step)));
    else if (event.key === "Enter") choose(found[at]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={box} class="palette" aria-label="Go to" onClose={close}>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={found.length > 0 ? `found-${at}` : undefined}
        aria-label="App, screen or action"
        placeholder="App, screen or action"
        autocomplete="off"
        value={typed}
        onKeyDown={steer}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setAt(0);
        }}
      />
      <ul id="found" role="listbox" aria-label="Found">
        {found.map((entry, index) => (
          <li
            key={`${entry.sort} ${entry.title}`}
            id={`found-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => choose(entry)}
          >
            <span class="cut">{entry.title}</span>
            <span class="faint small">{entry.sort}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p class="empty">Nothing has this name.</p> : null}
    </dialog>
  );
}
