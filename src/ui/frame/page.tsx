import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { wasOpened } from "../browser/router.ts";
import { heardText, staleText } from "../data/connection.ts";
import { Command } from "../parts/command.tsx";

interface PageProps {
  title: string;
  /** Beside the title: a state, a badge. */
  beside?: ComponentChildren;
  /** On the right: what can be done here. */
  actions?: ComponentChildren;
  /** The command that does the same as this page. */
  command: string;
  /** As high as the window: for a log. */
  whole?: boolean;
  children: ComponentChildren;
}

/** The frame of every screen. */
export function Page({ title, beside, actions, command, whole = false, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · berth`;
  }, [title]);
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    // A field of the page that took the focus itself keeps it, and so does a question that is open.
    if (!wasOpened() || document.querySelector("dialog[open]") !== null) return;
    if (place.current?.contains(document.activeElement) !== true) place.current?.focus({ preventScroll: true });
  }, []);
  return (
    <main ref={place} class={whole ? "page whole" : "page"} id="main" tabIndex={-1}>
      <Stale />
      <header class="head">
        <div class="title">
          <h1>{title}</h1>
          {beside}
        </div>
        {actions === undefined ? null : <div class="row">{actions}</div>}
      </header>
      {children}
      <Command text={command} />
    </main>
  );
}

/** On every page while the server is silent. The age is not read out, since it changes each second. */
function Stale() {
  if (staleText.value === undefined) return null;
  return (
    <div class="note warn stale">
      <strong role="alert">{staleText.value}</strong>
      <span class="soft">{heardText.value === "" ? "" : `Shown: ${heardText.value}`}</span>
    </div>
  );
}
