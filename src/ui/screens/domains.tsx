import type { DataOf } from "../../base/wire/endpoint.ts";
import { listCerts, listSites, renewCert } from "../../observability/api/traffic.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { tickedAt } from "../data/model.ts";
import { lacks } from "../data/session.ts";
import { Page } from "../frame/page.tsx";
import { appPath } from "../browser/paths.ts";
import { Button } from "../parts/button.tsx";
import { ask } from "../parts/dialog.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Empty, Note } from "../parts/notes.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { Ago } from "../parts/time.tsx";
import { say } from "../data/notices.ts";
import { rateText, shareText } from "../text/figures.ts";
import { outcomeTone } from "../text/states.ts";

type Site = DataOf<typeof listSites>["sites"][number];
type Certificate = DataOf<typeof listCerts>["certificates"][number];

const refreshMs = 15_000;

/** Which domain leads to which app, how that goes, and how long its certificate lasts. */
export function Screen() {
  const version = String(Math.floor(Date.parse(tickedAt.value || "0") / refreshMs));
  const sites = useLoad("sites", (signal) => api.call(listSites, { signal }), version);
  const certs = useLoad("certs", (signal) => api.call(listCerts, { signal }));
  return (
    <Page title="Domains" command="berth ingress">
      <Tabs label="Of the ingress" current="/domains" tabs={domainTabs} />
      <Shown of={sites} label="the domains">
        {({ sites: all, proxy }) => (
          <>
            {proxy.problem === undefined ? null : (
              <Note
                tone={proxy.state === "failing" ? "bad" : "warn"}
              >{`The proxy is ${proxy.state}: ${proxy.problem}`}</Note>
            )}
            <Sites sites={all} />
          </>
        )}
      </Shown>
      <section class="section">
        <h2>Certificates</h2>
        <Shown of={certs} label="the certificates">
          {({ certificates }) => <Certificates list={certificates} again={certs.again} />}
        </Shown>
      </section>
    </Page>
  );
}

export const domainTabs = [
  { title: "Domains", href: "/domains" },
  { title: "Requests", href: "/requests" },
];

function Sites({ sites }: { sites: readonly Site[] }) {
  if (sites.length === 0) {
    return (
      <Empty title="No domain leads to an app yet">
        <p>A host in the manifest of an app gives it one; the certificate comes by itself.</p>
        <code>berth domains add shop/web shop.example.com</code>
      </Empty>
    );
  }
  return (
    <>
      {sites.flatMap(({ ingress, problems }) =>
        problems.map((problem) => (
          <Note key={`${ingress} ${problem}`} tone="warn">
            {`${ingress}: ${problem}`}
          </Note>
        )),
      )}
      <Table
        label="Domains"
        rows={sites}
        keyOf={({ ingress, hosts, paths }) => `${ingress} ${hosts.join()} ${paths.join()}`}
        columns={[
          { title: "State", cell: stateOf },
          { title: "Host", cell: ({ hosts, tcp }) => hosts.join(", ") || tcp || "–" },
          { title: "App", cell: ({ target }) => <AppLink target={target} /> },
          { title: "Replicas", right: true, cell: ({ upstreams }) => upstreams.length },
          {
            title: "Requests",
            right: true,
            cell: ({ traffic }) => (traffic === undefined ? "–" : rateText(traffic.rate)),
          },
          {
            title: "Failed",
            right: true,
            cell: ({ traffic }) => (traffic === undefined ? "–" : shareText(traffic.failed, traffic.requests)),
          },
          {
            title: "p99",
            right: true,
            cell: ({ traffic }) => (traffic?.p99_ms === undefined ? "–" : `${traffic.p99_ms} ms`),
          },
        ]}
      />
    </>
  );
}

function stateOf({ problems, maintenance, asleep, upstreams, tls }: Site) {
  if (maintenance) return <State tone="warn" text="maintenance" />;
  if (asleep) return <State tone="idle" text="asleep" />;
  if (upstreams.length === 0) return <State tone="bad" text="no replica" />;
  if (problems.length > 0) return <State tone="warn" text="problem" />;
  return tls ? <State tone="good" text="serves" /> : <State tone="warn" text="no TLS" />;
}

export function AppLink({ target }: { target: string }) {
  const [scope = "", name = ""] = target.split("/");
  return name === "" ? <span class="soft">{target}</span> : <a href={appPath({ scope, name })}>{target}</a>;
}

function Certificates({ list, again }: { list: readonly Certificate[]; again: () => void }) {
  if (list.length === 0) return <p class="soft">No certificate is needed yet.</p>;
  return (
    <Table
      label="Certificates"
      rows={list}
      keyOf={({ id }) => id}
      columns={[
        {
          title: "State",
          cell: ({ state, issuing }) => (
            <State tone={outcomeTone(issuing ? "running" : state)} text={issuing ? "being issued" : state} />
          ),
        },
        { title: "Names", cell: ({ names }) => names.join(", ") },
        { title: "Issuer", cell: ({ issuer }) => issuer },
        { title: "Ends", right: true, cell: ({ not_after: at }) => <Ago at={at} /> },
        {
          title: "Last error",
          cell: ({ error }) => (error === undefined ? <span class="faint">–</span> : <span class="bad">{error}</span>),
        },
        {
          title: "",
          right: true,
          cell: ({ names: [name = ""] }) => (
            <Button look="bare" hindrance={lacks("actions")} onClick={() => askRenew(name, again)}>
              Renew…
            </Button>
          ),
        },
      ]}
    />
  );
}

function askRenew(host: string, again: () => void): void {
  ask({
    title: `Renew the certificate of ${host}`,
    verb: "Renew",
    command: `berth certs renew ${host}`,
    effects: [
      { text: "The certificate authority is asked for a new one now" },
      { text: "The old one serves until the new one is there" },
      { text: "It counts against the limits of the authority" },
    ],
    run: async () => {
      await api.call(renewCert, { params: { host } });
      say(`The certificate of ${host} is being renewed`, "work");
      again();
    },
  });
}
