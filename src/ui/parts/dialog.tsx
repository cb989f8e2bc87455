import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { faultText } from "../data/api.ts";
import { staleText } from "../data/connection.ts";
import { Button } from "./button.tsx";
import { Note } from "./notes.tsx";

/** One thing that an action does. `ends`: something is gone afterwards, or cut off. */
export interface Effect {
  text: string;
  ends?: boolean;
}

export interface Action {
  title: string;
  /** What it does, in order. */
  effects: readonly Effect[];
  /** On the button. Left out where nothing is left to do: then it only closes. */
  verb?: string;
  danger?: boolean;
  /** The command that does the same; left out where nothing is done. */
  command?: string;
  /** More than a list can show: a difference, a form. */
  body?: () => ComponentChildren;
  /** To be typed before the button can be pressed, for what cannot be undone. */
  type?: string;
  /**
   * Fails with a text for people, which is shown while the dialog stays open. What it answers with is shown next, in the
   * same dialog; otherwise the dialog closes.
   */
  run?: () => Promise<Action | undefined> | Promise<void>;
  /** The step before. */
  back?: () => Action;
}

/** `round`: one for all steps that the same dialog shows. */
const open = signal<{ action: Action; round: number } | undefined>(undefined);
let box: HTMLDialogElement | null = null;
let last = 0;

/** Shows what an action will do, and does it when the viewer says so. An open dialog shows it as its next step. */
export function ask(action: Action): void {
  if (box?.open !== true) last += 1;
  open.value = { action, round: last };
}

export function ActionDialog() {
  const asked = open.value;
  return asked === undefined ? null : <Box key={asked.round} {...asked} />;
}

/** One element for all steps of an action, so that the focus returns to where it was before the first. */
function Box({ action, round }: { action: Action; round: number }) {
  const own = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    box = own.current;
    box?.showModal();
  }, []);
  // The browser tells later that it was closed; the viewer may have asked for something else by then.
  const closed = () => {
    if (open.value?.round === round) open.value = undefined;
  };
  return (
    <dialog ref={own} aria-labelledby="asked" onClose={closed}>
      <Asked key={action.title} action={action} close={() => own.current?.close()} />
    </dialog>
  );
}

function Asked({ action, close }: { action: Action; close: () => void }) {
  const head = useRef<HTMLHeadingElement>(null);
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState("");
  const [typed, setTyped] = useState("");
  // The first step is focused by the browser. A later one begins at its top.
  useEffect(() => {
    const title = head.current;
    if (title === null || title.closest("dialog[open]") === null) return;
    title.tabIndex = -1;
    title.focus();
  }, []);
  const run = async () => {
    setBusy(true);
    setFault("");
    try {
      const next = await action.run?.();
      // Who has closed it meanwhile does not want to see more of it.
      if (open.value?.action !== action) return;
      if (next === undefined) close();
      else ask(next);
    } catch (error) {
      setFault(faultText(error));
      setBusy(false);
    }
  };
  return (
    <form
      class="inside"
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      <h2 id="asked" ref={head}>
        {action.title}
      </h2>
      {action.effects.length === 0 ? null : <Effects list={action.effects} />}
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
      {staleText.value === undefined ? null : <Note tone="warn">{staleText.value}</Note>}
      {action.command === undefined ? null : (
        <p class="small soft">
          {"The same in a terminal: "}
          <code>{action.command}</code>
        </p>
      )}
      <Ends
        action={action}
        close={close}
        busy={busy}
        ready={!busy && (action.type === undefined || typed === action.type)}
      />
    </form>
  );
}

function Ends(props: { action: Action; close: () => void; busy: boolean; ready: boolean }) {
  const { action, close, busy, ready } = props;
  const { back, verb } = action;
  return (
    <div class="end">
      {back === undefined ? null : <Button onClick={() => ask(back())}>Back</Button>}
      <Button onClick={close}>{verb === undefined ? "Close" : "Cancel"}</Button>
      {verb === undefined ? null : (
        <Button submits hindrance={staleText.value} look={action.danger ? "main danger" : "main"} disabled={!ready}>
          {busy ? "Working…" : verb}
        </Button>
      )}
    </div>
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
