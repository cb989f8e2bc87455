import { useState } from "preact/hooks";
import { listShownBuilds, type ShownBuild } from "../../observability/api/builds.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { activity } from "../data/model.ts";
import { now } from "../browser/clock.ts";
import { Page } from "../frame/page.tsx";
import { appPath } from "../browser/paths.ts";
import type { ScreenProps } from "../frame/screen.ts";
import { BuildButtons } from "../parts/build-buttons.tsx";
import { BuildOutput } from "../parts/build-output.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Empty, Note } from "../parts/notes.tsx";
import { State } from "../parts/state.tsx";
import { Ago } from "../parts/time.tsx";
import { imageText, sourceText } from "../text/builds.ts";
import { bytesText, durationText } from "../text/figures.ts";
import { outcomeTone } from "../text/states.ts";

/** One build: what it is made from, what it prints, and the releases that run on it. */
export function Screen({ params }: ScreenProps) {
  const { scope = "", name = "", id = "" } = params;
  const [round, setRound] = useState(0);
  const seen = activity.value.find(({ action }) => action === "build")?.seq ?? "";
  const loaded = useLoad(
    `build ${scope}/${name}/${id}`,
    (signal) => api.call(listShownBuilds, { query: { scope, name }, signal }),
    `${round} ${seen}`,
  );
  const build = loaded.data?.builds.find((one) => one.id === id);
  const again = () => setRound((count) => count + 1);
  return (
    <Page
      title={`Build ${id}`}
      whole
      command={`berth build log ${scope}/${name} ${id}`}
      beside={build === undefined ? undefined : <State tone={outcomeTone(build.status)} text={build.status} />}
      actions={build === undefined ? undefined : <BuildButtons build={build} again={again} />}
    >
      <Shown of={loaded} label="the build">
        {() =>
          build === undefined ? (
            <Empty title="No such build">
              <p>The server keeps the newest builds of each app.</p>
              <a href="/builds">To the builds</a>
            </Empty>
          ) : (
            <>
              {build.error === undefined ? null : <Note tone="bad">{build.error}</Note>}
              <Facts build={build} />
              <BuildOutput build={build} round={round} onEnd={loaded.again} />
            </>
          )
        }
      </Shown>
    </Page>
  );
}

function Facts({ build }: { build: ShownBuild }) {
  const { started_at: from, ended_at: until, image_bytes: bytes, git, releases } = build;
  return (
    <dl class="facts small">
      <dt>App</dt>
      <dd>
        <a href={appPath(build)}>{`${build.scope}/${build.name}`}</a>
      </dd>
      <dt>Source</dt>
      <dd>
        {sourceText(build)}
        {git === undefined ? null : <span class="soft">{` from ${git.url}`}</span>}
      </dd>
      <dt>By</dt>
      <dd>
        {build.actor_name ?? build.actor}
        {", "}
        <Ago at={from} />
        {build.status === "queued"
          ? ""
          : `, ${until === undefined ? "for" : "took"} ${durationText((until === undefined ? now.value : Date.parse(until)) - Date.parse(from))}`}
      </dd>
      <dt>Image</dt>
      <dd>
        <code>{build.image}</code>
        {bytes === undefined ? "" : `, ${bytesText(bytes)}`}
        <span class="soft">{build.status === "succeeded" ? ` ${imageText(build)}` : ""}</span>
      </dd>
      <dt>Releases</dt>
      <dd>
        {releases.length === 0 ? <span class="faint">none yet</span> : null}
        {releases.map((release) => (
          <a key={release} href={`${appPath(build, "deploys")}?to=${encodeURIComponent(release)}`}>
            {`${release} `}
          </a>
        ))}
      </dd>
    </dl>
  );
}
