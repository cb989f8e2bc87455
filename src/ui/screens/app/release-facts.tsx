import type { AppDetail } from "../../../observability/api/apps.ts";
import { State } from "../../parts/state.tsx";
import { Ago } from "../../parts/time.tsx";
import { byText, causeText, outcomeTone, releaseStateText } from "../../text/states.ts";
import { localTimes } from "../../text/times.ts";

export function ReleaseFacts({ app }: { app: AppDetail }) {
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
      </dl>
    </section>
  );
}
