import { getBoard } from "../../observability/api/boards.ts";
import { hostDisk } from "../../observability/api/disk.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { now } from "../browser/clock.ts";
import { Page } from "../frame/page.tsx";
import { Board, SpanChoice } from "../parts/board.tsx";
import { DiskReport } from "../parts/disk-report.tsx";
import { Shown } from "../parts/loaded.tsx";
import { ServerFacts } from "../parts/server-facts.tsx";
import { serverBoard } from "../text/boards.ts";

const lookMs = 3_000;

/** The machine that everything runs on: what fills its disk, how busy it is, and the server itself. */
export function Screen() {
  // Asked again while the server measures: it never waits for that.
  const measuring = useMeasuring();
  const board = useLoad("board machine", (signal) => api.call(getBoard, { params: { name: "machine" }, signal }));
  return (
    <Page title="Host & disk" actions={<SpanChoice />} command="berth disk">
      <Shown of={measuring} label="the disk" scope="host:read">
        {(disk) => <DiskReport disk={disk} again={measuring.again} />}
      </Shown>
      <section class="section">
        <h2>Machine</h2>
        <Shown of={board} label="the board">
          {({ charts }) => <Board charts={charts} />}
        </Shown>
      </section>
      <ServerFacts />
      <section class="section">
        <h2>The server over time</h2>
        <Board charts={serverBoard} />
      </section>
    </Page>
  );
}

function useMeasuring() {
  const first = useLoad("disk", (signal) => api.call(hostDisk, { signal }));
  const isBusy = first.data?.measuring === true;
  const version = isBusy ? String(Math.floor(now.value / lookMs)) : "";
  const next = useLoad("disk again", (signal) => api.call(hostDisk, { signal }), version);
  return next.data === undefined ? first : next;
}
