import { State } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import type { DatabaseFacts, DatabasePod } from "../../text/databases.ts";
import { bytesText } from "../../text/figures.ts";

/** Who takes writes, who follows and how far behind, and the databases of the server. */
export function Pods({ facts: { pods, databases } }: { facts: DatabaseFacts }) {
  return (
    <>
      <section class="section">
        <h2>Pods</h2>
        <Table
          label="Pods"
          rows={pods}
          keyOf={({ ordinal }) => String(ordinal)}
          columns={[
            { title: "Pod", cell: ({ ordinal }) => ordinal },
            { title: "Role", cell: roleOf },
            { title: "Ready", cell: ({ ready }) => (ready ? "yes" : "no") },
            { title: "Behind", right: true, cell: behindOf },
          ]}
        />
      </section>
      {databases.length === 0 ? null : (
        <section class="section">
          <h2>Databases</h2>
          <Table
            label="Databases of the server"
            rows={databases}
            keyOf={({ name }) => name}
            columns={[
              { title: "Database", cell: ({ name }) => name },
              { title: "Owner", cell: ({ owner }) => owner },
              { title: "Size", right: true, cell: ({ bytes }) => bytesText(bytes) },
            ]}
          />
        </section>
      )}
    </>
  );
}

function roleOf({ role, ready }: DatabasePod) {
  const isServing = role === "primary" || role === "standby";
  return <State tone={isServing ? (ready ? "good" : "work") : "bad"} text={role} />;
}

function behindOf({ role, behind }: DatabasePod) {
  if (role !== "standby") return <span class="faint">–</span>;
  return behind === undefined ? <span class="warn">not known</span> : bytesText(behind);
}
