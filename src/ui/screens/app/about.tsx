import type { AppDetail } from "../../../observability/api/apps.ts";
import { BackupFact } from "../../parts/copies.tsx";
import { DrillFact } from "../../parts/drills.tsx";
import { ProblemList } from "../../parts/problem-list.tsx";
import { Empty, Note } from "../../parts/notes.tsx";
import { localTimes } from "../../text/times.ts";
import { CanaryBar } from "./canary.tsx";
import { Replicas } from "./replicas.tsx";
import type { AppHost, Replica } from "../../../observability/api/app-model.ts";
import { planePodLogs } from "../../../observability/api/pod-logs.ts";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/load.ts";
import { plainLine } from "../../text/lines.ts";
import { State } from "../../parts/state.tsx";
import { Ago } from "../../parts/time.tsx";
import { byText, causeText, outcomeTone, releaseStateText } from "../../text/states.ts";
import { Table } from "../../parts/table.tsx";
import { Spark } from "../../parts/spark.tsx";
import { bytesText, percentText, rateText, shareText } from "../../text/figures.ts";

/** Nothing but http and https becomes a link. */
const webUrl = (url: string) => (/^https?:\/\//i.test(url) ? url : undefined);

function Hosts({ app }: { app: AppDetail }) {
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

const linesMax = 15;

/** What a replica that dies again and again printed last. */
function LastLines({ replica: { pod, restarts } }: { replica: Replica }) {
  const { data: lines = [] } = useLoad(
    pod,
    async (signal) => {
      const answer = await api.raw(planePodLogs, { params: { name: pod }, query: { tail: linesMax }, signal });
      return answer.ok ? (await answer.text()).trimEnd().split("\n") : [];
    },
    String(restarts),
  );
  const text = lines.map(plainLine).join("\n");
  if (text === "") return null;
  return (
    <section class="section">
      <h2>{`Last lines of ${pod}`}</h2>
      {/* A key alone scrolls it. */}
      <pre class="whole-line" tabIndex={0} aria-label={`Last lines of ${pod}`} role="region">
        {text}
      </pre>
    </section>
  );
}

/** How an app is now: what is wrong, its replicas, its figures, its release, where it is reached. */
export function About({ app }: { app: AppDetail }) {
  const dying = app.replicas.find(({ state }) => state === "crashing");
  return (
    <>
      {app.problems.length === 0 ? null : <ProblemList list={app.problems} own />}
      {dying === undefined ? null : <LastLines replica={dying} />}
      {app.deploy === undefined ? null : <Note tone="work">{`A deploy is under way: ${localTimes(app.deploy)}`}</Note>}
      {app.canary === undefined ? null : <CanaryBar app={app} canary={app.canary} />}
      {app.warnings.map((warning) => (
        <Note key={warning} tone="warn">
          {warning}
        </Note>
      ))}
      <Figures app={app} />
      <Replicas app={app} />
      <div class="columns">
        <ReleaseFacts app={app} />
        <Hosts app={app} />
      </div>
    </>
  );
}

function ReleaseFacts({ app }: { app: AppDetail }) {
  const { release } = app;
  return (
    <section class="section">
      <h2>Release</h2>
      <dl class="card facts inset">
        {release === undefined ? null : (
          <>
            <dt>State</dt>
            <dd>
              <State tone={outcomeTone(release.status)} text={releaseStateText(release.status)} />
            </dd>
            <dt>Id</dt>
            <dd>
              <code>{release.id}</code>
            </dd>
            <dt>What</dt>
            <dd>{release.message ?? causeText(release.cause)}</dd>
            <dt>By</dt>
            <dd>{byText(release)}</dd>
            <dt>Began</dt>
            <dd>
              <Ago at={release.started_at} />
            </dd>
            {release.error === undefined ? null : (
              <>
                <dt>Error</dt>
                <dd class="bad">{localTimes(release.error)}</dd>
              </>
            )}
          </>
        )}
        <dt>Image</dt>
        <dd>
          <code>{app.image}</code>
        </dd>
        <dt>Kind</dt>
        <dd>{app.block === undefined ? app.kind : `${app.kind} of the block ${app.block}`}</dd>
        {app.volumes.length === 0 ? null : (
          <>
            <dt>Volumes</dt>
            <dd>{app.volumes.join(", ")}</dd>
          </>
        )}
        <BackupFact app={app} />
        <DrillFact app={app} />
      </dl>
    </section>
  );
}

/** The last minutes in four small lines. */
function Figures({ app }: { app: AppDetail }) {
  const { sparks, traffic, usage } = app;
  if (traffic === undefined && usage === undefined) return null;
  const limit = usage?.memory_limit_bytes;
  return (
    <section class="card strip" aria-label="Figures">
      {traffic === undefined ? null : (
        <>
          <Cell
            name="Requests"
            text={rateText(traffic.rate)}
            aside={traffic.p99_ms === undefined ? "" : `p99 ${traffic.p99_ms} ms`}
            points={sparks?.rate}
          />
          <Cell
            name="Failed"
            text={shareText(traffic.failed, traffic.requests)}
            aside={`${traffic.failed} in ${traffic.seconds} s`}
            points={sparks?.failed_rate}
            bad={traffic.failed > 0}
          />
        </>
      )}
      {usage === undefined ? null : (
        <>
          <Cell
            name="CPU"
            text={percentText(usage.cpu_percent)}
            aside="100 % is one core"
            points={sparks?.cpu_percent}
          />
          <Cell
            name="Memory"
            text={bytesText(usage.memory_bytes)}
            aside={limit === undefined ? "" : `of ${bytesText(limit)}`}
            points={sparks?.memory_bytes}
          />
        </>
      )}
    </section>
  );
}

interface CellProps {
  name: string;
  text: string;
  aside: string;
  points: readonly (number | null)[] | undefined;
  bad?: boolean;
}

function Cell({ name, text, aside, points, bad }: CellProps) {
  return (
    <div>
      <span class="small soft">{name}</span>
      <span>
        <strong>{text}</strong> <span class="small soft">{aside}</span>
      </span>
      {points === undefined ? null : <Spark points={points} label={name} {...(bad ? { tone: "bad" as const } : {})} />}
    </div>
  );
}
