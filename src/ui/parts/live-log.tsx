import { useEffect, useRef, useState } from "preact/hooks";
import { targetOf } from "../../base/wire/client.ts";
import { streamLogs } from "../../observability/api/log-search.ts";
import { planePath } from "../../observability/api/plane-endpoint.ts";
import { markLine, openTail, type TailState } from "../data/tail.ts";
import { countText, many } from "../text/figures.ts";
import type { ShownLine } from "../text/lines.ts";
import { Button } from "./button.tsx";
import { askLine } from "./log-line.tsx";
import { LogList } from "./log-list.tsx";
import { Note } from "./notes.tsx";
import { State } from "./state.tsx";

/** Which lines are wanted; an empty word wants all. */
export interface LogFilter {
  app: string;
  q: string;
  level: string;
}

const keptMax = 20_000;
const tailLines = 500;

/** Empty words are left out of a request. */
export function said<T extends Record<string, string>>(words: T): { [K in keyof T]?: string } {
  const entries = Object.entries(words).filter(([, word]) => word !== "");
  return Object.fromEntries(entries) as { [K in keyof T]?: string };
}

export function LiveLog({ filter }: { filter: LogFilter }) {
  const [lines, setLines] = useState<readonly ShownLine[]>([]);
  const [state, setState] = useState<TailState>("opening");
  const [fault, setFault] = useState("");
  const [follow, setFollow] = useState(true);
  /** What came while the viewer reads further up. */
  const held = useRef<ShownLine[]>([]);
  const [left, setLeft] = useState(0);
  const [heldCount, setHeldCount] = useState(0);
  const following = useRef(true);
  const target = targetOf(planePath(streamLogs), { query: { ...said({ ...filter }), tail: tailLines, follow: true } });
  useEffect(
    () =>
      openTail(target, {
        onState: setState,
        onRefused: setFault,
        onLines(more, skipped) {
          setLeft((count) => count + skipped);
          const all =
            skipped === 0
              ? more
              : [markLine(`${countText(skipped)} lines came too fast to show; a search finds them`), ...more];
          if (following.current) {
            setLines((before) => [...before, ...all].slice(-keptMax));
            return;
          }
          held.current = [...held.current, ...all].slice(-keptMax);
          setHeldCount(held.current.length);
        },
      }),
    [target],
  );
  const turn = (next: boolean) => {
    following.current = next;
    setFollow(next);
    if (!next || held.current.length === 0) return;
    const more = held.current;
    held.current = [];
    setHeldCount(0);
    setLines((before) => [...before, ...more].slice(-keptMax));
  };
  if (fault !== "") return <Note tone="bad">{`This search cannot be read: ${fault}`}</Note>;
  return (
    <>
      <div class="row small soft">
        <State
          tone={state === "live" ? "good" : "warn"}
          text={state === "live" ? "Live" : state === "opening" ? "Connecting" : "Reconnecting"}
        />
        <span>
          {lines.length === 0 && state === "live" ? "No line yet: new ones appear here" : many(lines.length, "line")}
        </span>
        {left === 0 ? null : <span class="warn">{`${countText(left)} left out: they came too fast to show`}</span>}
        {follow ? null : (
          <Button onClick={() => turn(true)}>
            {heldCount === 0 ? "Go to the newest" : `${many(heldCount, "new line")} ↓`}
          </Button>
        )}
        <a
          href={targetOf(planePath(streamLogs), { query: { ...said({ ...filter }), tail: 10_000 } })}
          download="logs.ndjson"
        >
          Download
        </a>
      </div>
      <LogList
        label="Live log"
        apps={!filter.app.includes("/")}
        lines={lines}
        wanted={filter.q}
        follow={follow}
        onFollow={turn}
        onOpen={askLine}
      />
    </>
  );
}
