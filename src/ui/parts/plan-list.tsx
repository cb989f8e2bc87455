import type { DataOf } from "../../base/wire/endpoint.ts";
import type { applyManifests } from "../../observability/api/deploys.ts";
import { planLines } from "../text/plan.ts";
import { Effects } from "./dialog.tsx";
import { Note } from "./notes.tsx";
import { Badge } from "./state.tsx";

/** What an apply will do, resource by resource. */
export function PlanList({ plan }: { plan: Pick<DataOf<typeof applyManifests>, "plan" | "warnings"> }) {
  const rows = plan.plan ?? [];
  return (
    <section class="section">
      <h2>Plan</h2>
      {plan.warnings?.map((warning) => (
        <Note key={warning} tone="warn">
          {warning}
        </Note>
      ))}
      <ul class="card releases">
        {rows.map((row) => (
          <li key={row.ref} class="inset">
            <p>
              <Badge text={row.action} tone={row.action === "delete" ? "bad" : "work"} /> <strong>{row.ref}</strong>
            </p>
            <Effects list={planLines(row)} small />
          </li>
        ))}
      </ul>
      {rows.length === 0 ? <p class="soft">Nothing changes.</p> : null}
    </section>
  );
}
