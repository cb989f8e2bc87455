import { Page } from "../frame/page.tsx";
import { Board, SpanChoice } from "../parts/board.tsx";
import { appsBoard, hostBoard } from "../text/boards.ts";

/** The machine and all apps, without anything to set up. A drag over a chart narrows the time of all. */
export function Screen() {
  return (
    <Page title="Metrics" actions={<SpanChoice />} command="berth top">
      <section class="section">
        <h2>Apps</h2>
        <Board charts={appsBoard} />
      </section>
      <section class="section">
        <h2>Machine</h2>
        <Board charts={hostBoard} />
      </section>
    </Page>
  );
}
