/** One line of the stream that the far side of ssh answers with. */
interface Event {
  type: "hello" | "step_start" | "step_end" | "log" | "result" | "summary";
  [field: string]: unknown;
}

export interface Progress {
  begin(id: string, label: string): void;
  end(error?: string): void;
  log(text: string, level?: "info" | "warn" | "error"): void;
  result(ref: string, action: string): void;
  summary(text: string): void;
}

interface Place {
  out: (text: string) => void;
  note: (text: string) => void;
  now: () => Date;
}

/** As newline-delimited JSON, for the client that asked for it. */
export function eventProgress({ out, now }: Place): Progress {
  const say = (event: Event) => out(`${JSON.stringify({ ...event, ts: now().toISOString() })}\n`);
  let open: { id: string; label: string } | undefined;
  say({ type: "hello", protocol: "ndjson/1" });
  return {
    begin(id, label) {
      open = { id, label };
      say({ type: "step_start", ...open });
    },
    end(error) {
      if (open === undefined) return;
      say({ type: "step_end", ...open, ...(error === undefined ? { status: "ok" } : { status: "fail", error }) });
      open = undefined;
    },
    log: (text, level = "info") => say({ type: "log", level, text }),
    result(ref, action) {
      const parts = ref.split("/");
      const [kind, scope] = parts.length === 3 ? parts : [parts[0], ""];
      say({ type: "result", kind, scope, name: parts.at(-1), action });
    },
    summary: (text) => say({ type: "summary", text }),
  };
}

/** Like `eventProgress`, for people, and for older clients, which look for the banners. */
export function textProgress({ out, note }: Place): Progress {
  return {
    begin: (_id, label) => out(`-----> ${label}\n`),
    end: () => undefined,
    log: (text, level = "info") => (level === "info" ? out : note)(`${text}\n`),
    result: (ref, action) => out(`${ref} ${action}\n`),
    summary: (text) => out(`${text}\n`),
  };
}
