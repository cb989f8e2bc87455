import type { ComponentChildren } from "preact";

/** A sentence that must be seen. `bad` and `warn` are read out at once. */
export function Note({ tone, children }: { tone?: "bad" | "warn" | "work"; children: ComponentChildren }) {
  return (
    <div
      class={tone === undefined ? "note" : `note ${tone}`}
      role={tone === "bad" || tone === "warn" ? "alert" : "status"}
    >
      <div>{children}</div>
    </div>
  );
}

/** Where there is nothing: what would be here, and how to get it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="card empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

const widths = ["62%", "88%", "74%", "40%"];

export function Loading({ label }: { label: string }) {
  return (
    <div class="card bones" role="status" aria-label={`Loading ${label}`}>
      {widths.map((width) => (
        <i key={width} style={{ width }} />
      ))}
    </div>
  );
}

/** A token without the scope: which one is missing, and how to get one that has it. */
export function Denied({ scope }: { scope: string }) {
  return (
    <div class="card empty">
      <strong>{`This needs the scope ${scope}`}</strong>
      <p>{`You are signed in with a token without it. Make one on the server: berth pat create --scope=read,${scope}`}</p>
    </div>
  );
}
