import type { AppDetail } from "../../../observability/api/apps.ts";
import { listMetrics } from "../../../observability/api/metrics.ts";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/load.ts";
import { go, query, withQuery } from "../../browser/router.ts";
import { Board, SpanChoice } from "../../parts/board.tsx";
import { appBoard, ownBoard } from "../../text/boards.ts";

export function Metrics({ app: { scope, name } }: { app: AppDetail }) {
  const loaded = useLoad(`metrics of ${scope}/${name}`, (signal) =>
    api.call(listMetrics, { query: { app: `${scope}/${name}` }, signal }),
  );
  const byReplica = query.value.get("by") === "replica";
  const own = ownBoard(loaded.data?.metrics ?? [], byReplica);
  return (
    <section class="section">
      <header>
        <SpanChoice />
        <label class="row flat">
          <input
            type="checkbox"
            checked={byReplica}
            onChange={() => go(withQuery({ by: byReplica ? undefined : "replica" }))}
          />
          A line per replica
        </label>
      </header>
      <Board charts={appBoard(byReplica)} app={`${scope}/${name}`} />
      {own.length === 0 ? null : (
        <>
          <h2>Sent by the app</h2>
          <Board charts={own} app={`${scope}/${name}`} />
        </>
      )}
    </section>
  );
}
