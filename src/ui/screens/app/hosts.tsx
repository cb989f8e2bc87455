import type { AppHost } from "../../../observability/api/app-model.ts";
import type { AppDetail } from "../../../observability/api/apps.ts";
import { Empty } from "../../parts/notes.tsx";
import { State } from "../../parts/state.tsx";
import { Table } from "../../parts/table.tsx";
import { Ago } from "../../parts/time.tsx";
import { outcomeTone } from "../../text/states.ts";

/** Nothing but http and https becomes a link. */
const webUrl = (url: string) => (/^https?:\/\//i.test(url) ? url : undefined);

export function Hosts({ app }: { app: AppDetail }) {
  return (
    <section class="section">
      <h2>Reached at</h2>
      {app.hosts.length === 0 ? (
        <Empty title="No domain leads here">
          <p>An ingress in its manifest gives it one.</p>
        </Empty>
      ) : (
        <Table
          label="Hosts"
          rows={app.hosts}
          keyOf={({ host, ingress }) => `${host} ${ingress}`}
          columns={[
            {
              title: "Host",
              cell: ({ url, host, paths }) => (
                <a href={webUrl(url)} target="_blank" rel="noreferrer">
                  {paths.length === 0 || paths[0] === "/" ? host : `${host}${paths.join(", ")}`}
                </a>
              ),
            },
            { title: "Certificate", cell: certificateOf },
          ]}
        />
      )}
    </section>
  );
}

function certificateOf({ certificate, tls }: AppHost) {
  if (!tls) return <State tone="warn" text="no TLS" />;
  if (certificate === undefined) return <span class="faint">–</span>;
  return (
    <span class="row" title={certificate.error ?? certificate.issuer}>
      <State tone={outcomeTone(certificate.state)} text={certificate.state} />
      {certificate.not_after === undefined ? null : (
        <span class="soft small">
          ends <Ago at={certificate.not_after} />
        </span>
      )}
    </span>
  );
}
