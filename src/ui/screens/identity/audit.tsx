import { readableEmail } from "../../../base/pure/domain-names.ts";
import type { IdentityAuditEntry } from "../../../identity/api/manage/audit.ts";
import type { IdentityInstance } from "../../../identity/api/manage/instances.ts";
import { listPlaneIdentityAudit } from "../../../observability/api/identity.ts";
import { api } from "../../data/api.ts";
import { query } from "../../browser/router.ts";
import { Shown } from "../../parts/loaded.tsx";
import { Empty } from "../../parts/notes.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { searchOf } from "../../text/user-search.ts";
import { Search, useRows } from "./parts.tsx";

/** Who did what in an instance: sign-ins, refusals, changes. */
export function Audit({ instance: { id: instance } }: { instance: IdentityInstance }) {
  const typed = query.value.get("q") ?? "";
  const { loaded, more } = useRows(`identity audit ${instance} ${typed}`, (limit, signal) => {
    const asked = { query: searchOf(typed, "email"), limit };
    return api.call(listPlaneIdentityAudit, { params: { instance }, query: asked, signal });
  });
  return (
    <section class="section">
      <Search label="Search the audit" hint="ana, or action:signin.* ip_address:203.0.113.*" />
      <Shown of={loaded} label="the audit" scope="admin">
        {({ entries }) =>
          entries.length === 0 ? (
            <Empty title={typed === "" ? "Nothing happened yet" : "Nothing matches"} />
          ) : (
            <>
              <Entries entries={entries} />
              {more}
            </>
          )
        }
      </Shown>
    </section>
  );
}

function Entries({ entries }: { entries: readonly IdentityAuditEntry[] }) {
  return (
    <Table
      label="Audit"
      rows={entries}
      keyOf={({ id }) => id}
      columns={[
        { title: "When", cell: ({ at }) => <Ago at={at} /> },
        { title: "Action", cell: ({ action }) => <code>{action}</code> },
        { title: "User", cell: ({ email }) => readableEmail(email ?? "") },
        { title: "By", cell: ({ actor }) => actor },
        { title: "From", cell: ({ ip_address: ip }) => ip ?? "" },
        { title: "Detail", cell: ({ detail }) => <span class="soft wrap">{detailText(detail)}</span> },
      ]}
    />
  );
}

function detailText(detail: Record<string, unknown>): string {
  return Object.entries(detail)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("; ");
}
