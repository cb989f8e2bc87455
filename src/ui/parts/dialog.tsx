import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Note } from "./notes.tsx";

/** One thing that an action does. `ends`: something is gone afterwards, or cut off. */
export interface Effect {
  text: string;
  ends?: boolean;
}

interface Action {
  title: string;
  /** What it does, in order. */
  effects: readonly Effect[];
  /** On the button. */
  verb: string;
  danger?: boolean;
  /** The command that does the same. */
  command: string;
  /** More than a list can show: a difference, a form. */
  body?: () => ComponentChildren;
  /** To be typed before the button can be pressed, for what cannot be undone. */
  type?: string;
  /** Fails with a text for people, which is shown while the dialog stays open. */
  run: () => Promise<void>;
}

const open = signal<Action | undefined>(undefined);

/** Shows what an action will do, and does it when the viewer says so. */
export function ask(action: Action): void {
  open.value = action;
}

export function ActionDialog() {
  const action = open.value;
  return action === undefined ? null : <Asked key={action.title} action={action} />;
}

function Asked({ action }: { action: Action }) {
  const box = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState("");
  const [typed, setTyped] = useState("");
  useEffect(() => box.current?.showModal(), []);
  const close = () => {
    open.value = undefined;
  };
  const run = async () => {
    setBusy(true);
    setFault("");
    try {
      await action.run();
      close();
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <dialog ref={box} aria-labelledby="asked" onClose={close}>
      <form
        class="inside"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <h2 id="asked">{action.title}</h2>
        <Effects list={action.effects} />
        {action.body?.()}
        {action.type === undefined ? null : (
          <div class="field">
            <label for="typed">{`Type ${action.type} to go on`}</label>
            <input
              id="typed"
              class="input mono"
              value={typed}
              autocomplete="off"
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          </div>
        )}
        {fault === "" ? null : <Note tone="bad">{fault}</Note>}
        <p class="small soft">
          {"The same in a terminal: "}
          <code>{action.command}</code>
        </p>
        <div class="end">
          <Button onClick={() => box.current?.close()}>Cancel</Button>
          <Button
            submits
            look={action.danger ? "main danger" : "main"}
            disabled={busy || (action.type !== undefined && typed !== action.type)}
          >
            {busy ? "Working…" : action.verb}
          </Button>
        </div>
      </form>
    </dialog>
  );
}

/** What an action does, line by line. */
export function Effects({ list, small = false }: { list: readonly Effect[]; small?: boolean }) {
  return (
    <ul class={small ? "effects small" : "effects"}>
      {list.map(({ text, ends }) => (
        <li key={text}>
          <span class={ends ? "bad" : "faint"} aria-hidden="true">
            {ends ? "✕" : "→"}
          </span>
          <span>{text}</span>
        </li>
      ))}
    </ul>
  );
}
