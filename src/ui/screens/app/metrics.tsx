import type { AppDetail } from "../../../observability/api/apps.ts";
import { go, query, withQuery } from "../../frame/router.ts";
import { Board, SpanChoice } from "../../parts/board.tsx";
import { appBoard } from "../../text/boards.ts";

export function Metrics({ app: { scope, name } }: { app: AppDetail }) {
  const byReplica = query.value.get("by") === "replica";
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
    </section>
  );
}
