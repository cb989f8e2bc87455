import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { lineTone, pieces, readable, type ShownLine } from "../text/lines.ts";
import { clockText, exactText } from "../text/times.ts";

/** As the style sheet has them: on a phone a line wraps once. */
const deskRowPx = 18;
const phoneRowPx = 36;
const narrow = matchMedia("(max-width: 760px)");
const isNarrow = signal(narrow.matches);
narrow.addEventListener("change", () => {
  isNarrow.value = narrow.matches;
});
const beyond = 12;

interface LogListProps {
  label: string;
  lines: readonly ShownLine[];
  /** The lines are of several apps, so each names its own. */
  apps?: boolean;
  /** Lines have no time and no replica. */
  plain?: boolean;
  /** Marked in each line. */
  wanted?: string;
  /** Stays at the newest line until the viewer scrolls up. */
  follow: boolean;
  onFollow: (follow: boolean) => void;
  onOpen?: (line: ShownLine) => void;
}

/** Any number of lines: only those in view are in the document. */
export function LogList({
  label,
  lines,
  wanted = "",
  apps = false,
  plain = false,
  follow,
  onFollow,
  onOpen,
}: LogListProps) {
  const rowPx = isNarrow.value && !plain ? phoneRowPx : deskRowPx;
  const box = useRef<HTMLDivElement>(null);
  const topBefore = useRef(0);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useEffect(() => {
    if (box.current === null) return undefined;
    const watch = new ResizeObserver(([entry]) => setHeight(entry?.contentRect.height ?? 600));
    watch.observe(box.current);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (follow && box.current !== null) box.current.scrollTop = lines.length * rowPx;
  });
  // The same row twice is not looked at again: a scroll, or one more line, leaves most of them as they are.
  const rows = useMemo(() => new WeakMap<ShownLine, VNode>(), [apps, wanted, onOpen]);
  const rowOf = (line: ShownLine) => {
    const known = rows.get(line);
    if (known !== undefined) return known;
    const row = <Line key={line.id} line={line} apps={apps} wanted={wanted} onOpen={onOpen} />;
    rows.set(line, row);
    return row;
  };
  const first = Math.max(0, Math.floor(top / rowPx) - beyond);
  const last = Math.min(lines.length, Math.ceil((top + height) / rowPx) + beyond);
  return (
    <div
      ref={box}
      class={plain ? "log output" : apps ? "log apps" : "log"}
      role="log"
      aria-label={label}
      aria-live="off"
      tabIndex={0}
      onScroll={(event) => {
        const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
        setTop(scrollTop);
        const atEnd = scrollHeight - scrollTop - clientHeight < rowPx * 2;
        // A window that changes its size moves the end away, but only a person scrolls up.
        const wentUp = scrollTop < topBefore.current - 1;
        topBefore.current = scrollTop;
        if (atEnd !== follow && (atEnd || wentUp)) onFollow(atEnd);
      }}
    >
      <div style={{ height: `${lines.length * rowPx}px`, position: "relative" }}>
        <div style={{ transform: `translateY(${first * rowPx}px)` }}>{lines.slice(first, last).map(rowOf)}</div>
      </div>
    </div>
  );
}

interface LineProps {
  line: ShownLine;
  apps: boolean;
  wanted: string;
  onOpen: ((line: ShownLine) => void) | undefined;
}

function Line({ line, apps, wanted, onOpen }: LineProps) {
  const tone = line.mark ? "cut-here" : (lineTone(line) ?? "");
  const { message, fields } = readable(line.text);
  return (
    <div class={`line ${tone}`} onClick={onOpen === undefined ? undefined : () => onOpen(line)}>
      {line.at === undefined ? <span /> : <time title={exactText(line.at)}>{clockText(line.at)}</time>}
      <span class="soft cut" title={apps ? line.replica : line.app}>
        {apps ? line.app : line.replica}
      </span>
      <span>
        <Marked text={message} wanted={wanted} />
        {fields === "" ? null : (
          <span class="soft">
            {"  "}
            <Marked text={fields} wanted={wanted} />
          </span>
        )}
      </span>
    </div>
  );
}

function Marked({ text, wanted }: { text: string; wanted: string }) {
  return <>{pieces(text, wanted).map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))}</>;
}
