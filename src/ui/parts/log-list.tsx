import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { levelTone, pieces, type ShownLine } from "../text/lines.ts";
import { clockText, exactText } from "../text/times.ts";

/** As the style sheet has it. */
const rowPx = 18;
const beyond = 12;

interface LogListProps {
  label: string;
  lines: readonly ShownLine[];
  /** Marked in each line. */
  wanted?: string;
  /** Stays at the newest line until the viewer scrolls up. */
  follow: boolean;
  onFollow: (follow: boolean) => void;
  onOpen?: (line: ShownLine) => void;
}

/** Any number of lines: only those in view are in the document. */
export function LogList({ label, lines, wanted = "", follow, onFollow, onOpen }: LogListProps) {
  const box = useRef<HTMLDivElement>(null);
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
  const first = Math.max(0, Math.floor(top / rowPx) - beyond);
  const last = Math.min(lines.length, Math.ceil((top + height) / rowPx) + beyond);
  return (
    <div
      ref={box}
      class="log"
      role="log"
      aria-label={label}
      aria-live="off"
      tabIndex={0}
      onScroll={(event) => {
        const { scrollTop, scrollHeight, clientHeight } = event.currentTarget;
        setTop(scrollTop);
        const atEnd = scrollHeight - scrollTop - clientHeight < rowPx * 2;
        if (atEnd !== follow) onFollow(atEnd);
      }}
    >
      <div style={{ height: `${lines.length * rowPx}px`, position: "relative" }}>
        <div style={{ transform: `translateY(${first * rowPx}px)` }}>
          {lines.slice(first, last).map((line) => (
            <Line key={line.id} line={line} wanted={wanted} onOpen={onOpen} />
          ))}
        </div>
      </div>
    </div>
  );
}

interface LineProps {
  line: ShownLine;
  wanted: string;
  onOpen: ((line: ShownLine) => void) | undefined;
}

function Line({ line, wanted, onOpen }: LineProps) {
  const tone = line.mark ? "cut-here" : (levelTone(line.text) ?? "");
  const parts = pieces(line.text, wanted);
  return (
    <div class={`line ${tone}`} onClick={onOpen === undefined ? undefined : () => onOpen(line)}>
      {line.at === undefined ? <span /> : <time title={exactText(line.at)}>{clockText(line.at)}</time>}
      <span class="faint" title={line.replica}>
        {line.replica.slice(0, 1)}
      </span>
      <span>{parts.map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))}</span>
    </div>
  );
}
