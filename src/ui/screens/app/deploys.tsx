import { diffReleases, listAppReleases, type ShownRelease } from "../../../observability/api/deploys.ts";
import type { AppDetail } from "../../../observability/api/apps.ts";
import { keyText } from "../../../orchestration/api/manifest-key.ts";
import type { Receipt } from "../../../orchestration/api/receipt.ts";
import { api, faultText } from "../../data/api.ts";
import { useLoad } from "../../data/load.ts";
import { lacks } from "../../data/session.ts";
import { query, withQuery } from "../../browser/router.ts";
import { Button } from "../../parts/button.tsx";
import { Shown } from "../../parts/loaded.tsx";
import { Empty } from "../../parts/notes.tsx";
import { State } from "../../parts/state.tsx";
import { Ago } from "../../parts/time.tsx";
import { say } from "../../data/notices.ts";
import { countText, durationText } from "../../text/figures.ts";
import { byText, causeText, outcomeTone, releaseStateText } from "../../text/states.ts";
import { localTimes } from "../../text/times.ts";
import { buildPath } from "../../parts/build-buttons.tsx";
import { ChangeTable } from "../../parts/change-table.tsx";
import { askRollback } from "./actions.tsx";

/** Releases, newest first; the chosen one with its receipt and what it changed. */
export function Deploys({ app }: { app: AppDetail }) {
  const { kind, scope, name } = app;
  const version = JSON.stringify(app.release);
  const loaded = useLoad(
    keyText(app),
    (signal) => api.call(listAppReleases, { params: { scope, name }, query: { kind }, signal }),
    version,
  );
  return (
    <Shown of={loaded} label="the releases">
      {({ releases }) =>
        releases.length === 0 ? (
          <Empty title="No release yet">
            <p>{`${kind === "deployment" ? "The first apply" : "A change"} makes one.`}</p>
          </Empty>
        ) : (
          <ol class="card releases">
            {releases.map((release, index) => (
              <Row key={release.id} app={app} release={release} newest={index === 0} />
            ))}
          </ol>
        )
      }
    </Shown>
  );
}

function Row({ app, release, newest }: { app: AppDetail; release: ShownRelease; newest: boolean }) {
  const { id, status, started_at: from, ended_at: until, error, rolled_back_from: back } = release;
  const chosen = query.value.get("to") === id;
  const rollBack = () => void askRollback(app, id).catch((fault: unknown) => say(faultText(fault), "bad"));
  return (
    <li>
      <div class="release">
        <State tone={outcomeTone(status)} text={releaseStateText(status)} />
        <div>
          <a href={withQuery({ to: chosen ? undefined : id })} aria-expanded={chosen}>
            {release.message ??
              (back === undefined ? causeText(release.cause) : `${causeText(release.cause)} to ${back}`)}
          </a>
          <p class="small soft">
            <code>{id}</code>
            {` by ${byText(release)}, `}
            <Ago at={from} />
            {until === undefined ? "" : `, took ${durationText(Date.parse(until) - Date.parse(from))}`}
          </p>
          {error === undefined ? null : <p class="bad small">{localTimes(error)}</p>}
          {release.receipt === undefined ? null : <ReceiptLine receipt={release.receipt} />}
        </div>
        {newest || status !== "succeeded" ? null : (
          <Button hindrance={lacks("actions")} onClick={rollBack}>
            Roll back to this…
          </Button>
        )}
      </div>
      {chosen ? <Difference app={app} release={release} /> : null}
    </li>
  );
}

/** What visitors noticed of the deploy, as the ingress counted it. */
function ReceiptLine({ receipt: { before, during, after } }: { receipt: Receipt }) {
  if (during.requests === 0) return <p class="small soft">No request came during the deploy</p>;
  const slow = (ms: number | undefined) => (ms === undefined ? "–" : `${ms} ms`);
  return (
    <p class={during.failed === 0 ? "small good" : "small bad"}>
      {`${countText(during.failed)} of ${countText(during.requests)} requests failed during the deploy`}
      <span class="soft">{`; p99 before ${slow(before.p99_ms)}, during ${slow(during.p99_ms)}${after === undefined ? "" : `, after ${slow(after.p99_ms)}`}`}</span>
    </p>
  );
}

function Difference({ app, release }: { app: AppDetail; release: ShownRelease }) {
  const { kind, scope, name } = app;
  const loaded = useLoad(`diff ${release.id}`, (signal) =>
    api.call(diffReleases, { params: { scope, name }, query: { kind, to: release.id }, signal }),
  );
  return (
    <div class="inset">
      <dl class="facts small">
        <dt>Image</dt>
        <dd>
          <code>{release.image ?? "–"}</code>
        </dd>
        {release.build_id === undefined ? null : (
          <>
            <dt>Build</dt>
            <dd>
              <a href={buildPath({ scope, name, id: release.build_id })}>
                <code>{release.build_id}</code>
              </a>
            </dd>
          </>
        )}
      </dl>
      <Shown of={loaded} label="what it changed">
        {({ changes, from }) => <ChangeTable changes={changes} {...(from === undefined ? {} : { from })} />}
      </Shown>
    </div>
  );
}
