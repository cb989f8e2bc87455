import type { App, AppProblem } from "../../observability/api/app-model.ts";
import { keyText } from "../../orchestration/api/manifest-key.ts";
import { apps, deploys, engine, host, known, problems, server } from "../data/model.ts";
import { Page } from "../frame/page.tsx";
import { query } from "../browser/router.ts";
import { AppTile } from "../parts/app-tile.tsx";
import { DeployTable } from "../parts/deploy-table.tsx";
import { HostStripe } from "../parts/host-strip.tsx";
import { Empty, Loading, Note } from "../parts/notes.tsx";
import { ProblemList } from "../parts/problem-list.tsx";
import { State } from "../parts/state.tsx";
import { unprotected } from "../text/backups.ts";
import { many } from "../text/figures.ts";
import { appTones } from "../text/states.ts";

export function Screen() {
  const version = server.value?.version.split(" ")[0];
  return (
    <Page
      title="Overview"
      beside={version === undefined ? undefined : <span class="faint small">{`berth ${version}`}</span>}
      actions={
        <a class="button" href="/new">
          New app
        </a>
      }
      command="berth status"
    >
      {known.value ? <Known /> : <Loading label="the overview" />}
    </Page>
  );
}

function Known() {
  return (
    <>
      {engine.value.up ? null : (
        <Note tone="bad">{`Docker cannot be reached: ${engine.value.error ?? "the server tries again"}. What runs goes on; nothing can be changed.`}</Note>
      )}
      <Problems list={problems.value} />
      <Unprotected list={apps.value} />
      <Apps list={apps.value} />
      {host.value === undefined ? null : <HostStripe host={host.value} />}
      {deploys.value.length === 0 ? null : (
        <section class="section">
          <header>
            <h2>Last deploy of each app</h2>
            <a href="/deploys">All deploys</a>
          </header>
          <DeployTable rows={deploys.value} />
        </section>
      )}
    </>
  );
}

function Problems({ list }: { list: readonly AppProblem[] }) {
  if (list.length === 0) {
    return apps.value.length === 0 ? null : (
      <p>
        <State tone="good" text="Nothing needs attention" />
      </p>
    );
  }
  return (
    <section class="section">
      <h2>{list.length === 1 ? "1 thing needs attention" : `${list.length} things need attention`}</h2>
      <ProblemList list={list} />
    </section>
  );
}

const namesShown = 5;

/** No fault: what is not protected may be worth nothing. */
function Unprotected({ list }: { list: readonly App[] }) {
  const { names, withVolumes } = unprotected(list);
  if (names.length === 0) return null;
  const more = names.length > namesShown ? ` and ${names.length - namesShown} more` : "";
  return (
    <Note>
      {`${names.length} of ${many(withVolumes, "app")} with volumes ${names.length === 1 ? "is" : "are"} not protected: `}
      {`${names.slice(0, namesShown).join(", ")}${more}. This line in the manifest copies the volumes to your targets: `}
      <code>{"backup: {}"}</code> <a href="/backups">Backups</a>
    </Note>
  );
}

const tiles = new WeakMap<App, preact.JSX.Element>();

/** An app that has not changed keeps its element, which the page then passes over: 200 tiles cost no more than one. */
function tileOf(app: App) {
  const kept = tiles.get(app) ?? <AppTile key={keyText(app)} app={app} />;
  tiles.set(app, kept);
  return kept;
}

function Apps({ list }: { list: readonly App[] }) {
  if (list.length === 0) {
    return (
      <Empty title="No apps yet">
        <p>Apply a manifest on your laptop or on the server, and it shows here at once:</p>
        <code>berth up</code>
        <a href="/new?from=example">Or try an example here</a>
      </Empty>
    );
  }
  const scope = query.value.get("scope") ?? "";
  const scopes = [...new Set(list.map((app) => app.scope))].sort();
  const bad = list.filter(({ state }) => appTones[state] === "bad").length;
  return (
    <section class="section">
      <header>
        <h2>
          {bad === 0
            ? many(list.length, "app")
            : `${many(list.length, "app")}, ${many(bad, "is", "are")} down, crashing or failing`}
        </h2>
        {scopes.length < 2 ? null : (
          <span class="row small">
            {["", ...scopes].map((one) => (
              <a
                key={one}
                href={one === "" ? "/" : `/?scope=${encodeURIComponent(one)}`}
                aria-current={one === scope ? "true" : undefined}
                class={one === scope ? "chosen" : "soft"}
              >
                {one === "" ? "all" : one}
              </a>
            ))}
          </span>
        )}
      </header>
      <div class="tiles">{list.filter((app) => scope === "" || app.scope === scope).map(tileOf)}</div>
    </section>
  );
}
