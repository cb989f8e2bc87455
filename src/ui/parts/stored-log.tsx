import { useState } from "preact/hooks";
import { logHistogram, type MissingLogLines, searchLogs } from "../../observability/api/log-search.ts";
import { missingText } from "../../observability/api/missing-lines.ts";
import { api, faultText } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { shownLine } from "../data/tail.ts";
import { go, withQuery } from "../browser/router.ts";
import { countText, many } from "../text/figures.ts";
import type { ShownLine } from "../text/lines.ts";
import { exactText } from "../text/times.ts";
import { Button } from "./button.tsx";
import { type LogFilter, said } from "./live-log.tsx";
import { Shown } from "./loaded.tsx";
import { askLine } from "./log-line.tsx";
import { LogList } from "./log-list.tsx";
import { Empty, Note } from "./notes.tsx";
import { say } from "../data/notices.ts";

interface Span {
  from: string;
  until: string;
}

const pageLines = 1_000;

/** What is stored, the newest at the bottom as in a live log. */
export function StoredLog({ filter }: { filter: LogFilter & Span }) {
  const asked = said({ ...filter });
  const found = useLoad(JSON.stringify(filter), (signal) =>
    api.call(searchLogs, { query: { ...asked, limit: pageLines }, signal }),
  );
  return (
    <>
      <Histogram asked={asked} />
      <Shown of={found} label="the lines">
        {({ lines, cursor, missing = [] }) => (
          <>
            <Missing missing={missing} />
            <Found first={lines.map(shownLine).reverse()} cursor={cursor} asked={asked} wanted={filter.q} />
          </>
        )}
      </Shown>
    </>
  );
}

function Missing({ missing }: { missing: readonly MissingLogLines[] }) {
  return missing.map((lines) => (
    <Note key={`${lines.scope}/${lines.name}`} tone="warn">
      {`${lines.scope}/${lines.name}: ${missingText(lines, (at) => exactText(Date.parse(at)))}.`}
    </Note>
  ));
}

interface FoundProps {
  first: ShownLine[];
  cursor: string | undefined;
  asked: Record<string, string | undefined>;
  wanted: string;
}

function Found({ first, cursor, asked, wanted }: FoundProps) {
  const [all, setAll] = useState({ lines: first, cursor });
  const [follow, setFollow] = useState(true);
  const older = async () => {
    try {
      const page = await api.call(searchLogs, { query: { ...asked, limit: pageLines, cursor: all.cursor } });
      setFollow(false);
      setAll({ lines: [...page.lines.map(shownLine).reverse(), ...all.lines], cursor: page.cursor });
    } catch (error) {
      say(faultText(error), "bad");
    }
  };
  if (all.lines.length === 0) {
    return (
      <Empty title="No line fits">
        <p>Widen the time, or take a word away.</p>
      </Empty>
    );
  }
  return (
    <>
      <div class="row small soft">
        <span>{`the newest ${many(all.lines.length, "line")}`}</span>
        {all.cursor === undefined ? (
          <span>all that are stored</span>
        ) : (
          <Button onClick={() => void older()}>Older lines</Button>
        )}
      </div>
      <LogList
        label="Stored log"
        apps={!(asked.app ?? "").includes("/")}
        lines={all.lines}
        wanted={wanted}
        follow={follow}
        onFollow={setFollow}
        onOpen={askLine}
      />
    </>
  );
}

/** Lines over time by level; a press on a bar narrows the time to it, as the choice of times does without a mouse. */
function Histogram({ asked }: { asked: Record<string, string | undefined> }) {
  const loaded = useLoad(JSON.stringify(asked), (signal) =>
    api.call(logHistogram, { query: { ...asked, buckets: 120 }, signal }),
  );
  if (loaded.data === undefined || loaded.data.total === 0) return null;
  const { buckets, interval_ms: width, total } = loaded.data;
  const sums = buckets.map(({ counts }) => ({
    bad: (counts.error ?? 0) + (counts.fatal ?? 0),
    warn: counts.warn ?? 0,
    all: Object.values(counts).reduce((sum, count) => sum + count, 0),
  }));
  const errors = sums.reduce((sum, { bad }) => sum + bad, 0);
  const top = Math.max(1, ...sums.map(({ all }) => all));
  const percent = (count: number) => `${(count / top) * 100}%`;
  return (
    <section class="section" aria-label="Lines over time">
      <span class="small soft">{`${countText(total)} lines`}</span>
      <div class="bars" role="img" aria-label={`${many(total, "line")}, ${many(errors, "error")} over time`}>
        {buckets.map(({ at }, index) => {
          const { bad = 0, warn = 0, all = 0 } = sums[index] ?? {};
          const start = Date.parse(at);
          const narrow = () => go(withQuery({ from: at, until: new Date(start + width).toISOString() }));
          return (
            <span key={at} title={`${exactText(start)}: ${many(all, "line")}, ${many(bad, "error")}`} onClick={narrow}>
              <i style={{ height: percent(all - bad - warn) }} />
              <i class="warn" style={{ height: percent(warn) }} />
              <i class="bad" style={{ height: percent(bad) }} />
            </span>
          );
        })}
      </div>
    </section>
  );
}
