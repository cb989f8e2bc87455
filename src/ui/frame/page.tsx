import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
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
  return (
    <main class={whole ? "page whole" : "page"} id="main" tabIndex={-1}>
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
