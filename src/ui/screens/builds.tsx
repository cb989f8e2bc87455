import { useRef } from "preact/hooks";
import { listShownBuilds, type ShownBuild } from "../../observability/api/builds.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { activity } from "../data/model.ts";
import { now } from "../browser/clock.ts";
import { Page } from "../frame/page.tsx";
import { query } from "../browser/router.ts";
import { BuildButtons, buildPath } from "../parts/build-buttons.tsx";
import { Shown } from "../parts/loaded.tsx";
import { Empty } from "../parts/notes.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { Ago } from "../parts/time.tsx";
import { imageText, isUnderWay, sourceText } from "../text/builds.ts";
import { bytesText, durationText } from "../text/figures.ts";
import { outcomeTone } from "../text/states.ts";

/** How often the list is asked for while a build is under way. */
const lookMs = 3_000;

/** Images from source: the queue, what is being built, and what was. */
export function Screen() {
  const [scope, name] = (query.value.get("app") ?? "").split("/");
  const filter = { scope: scope === "" ? undefined : scope, name };
  const seen = activity.value.find(({ action }) => action === "build")?.seq ?? "";
  const busy = useRef(false);
  const turn = Math.floor(now.value / lookMs);
  const loaded = useLoad(
    `builds ${scope}/${name}`,
    (signal) => api.call(listShownBuilds, { query: filter, signal }),
    `${seen} ${busy.current ? turn : ""}`,
  );
  busy.current = loaded.data?.builds.some(isUnderWay) ?? false;
  return (
    <Page
      title="Builds"
      command="berth build list"
      actions={
        <a class="button" href="/new">
          New app
        </a>
      }
    >
      <Shown of={loaded} label="the builds">
        {({ builds }) =>
          builds.length === 0 ? (
            <Empty title="No builds yet">
              <p>
                An app whose manifest has a build is made from source on this server. Begin with New app, or with{" "}
                <code>berth up</code>.
              </p>
            </Empty>
          ) : (
            <Builds builds={builds} again={loaded.again} />
          )
        }
      </Shown>
    </Page>
  );
}

function Builds({ builds, again }: { builds: readonly ShownBuild[]; again: () => void }) {
  return (
    <Table
      label="Builds"
      rows={builds}
      keyOf={(build) => buildPath(build)}
      columns={[
        { title: "State", cell: ({ status }) => <State tone={outcomeTone(status)} text={status} /> },
        {
          title: "App",
          cell: (build) => <a href={buildPath(build)}>{`${build.scope}/${build.name}`}</a>,
        },
        { title: "Source", cell: sourceOf },
        { title: "By", cell: ({ actor, actor_name: name }) => <span class="soft">{name ?? actor}</span> },
        { title: "Took", right: true, cell: tookOf },
        {
          title: "Size",
          right: true,
          cell: ({ image_bytes: bytes }) => (bytes === undefined ? <span class="faint">–</span> : bytesText(bytes)),
        },
        { title: "Image", cell: (build) => <span class="soft">{imageText(build)}</span> },
        { title: "Began", right: true, cell: ({ started_at: at }) => <Ago at={at} /> },
        { title: "", right: true, cell: (build) => <BuildButtons build={build} again={again} look="bare" /> },
      ]}
    />
  );
}

function sourceOf(build: ShownBuild) {
  return (
    <span class="what" title={build.git?.url ?? build.context}>
      {sourceText(build)}
      {build.error === undefined ? null : <span class="bad small">{` ${build.error}`}</span>}
    </span>
  );
}

function tookOf({ status, started_at: from, ended_at: until }: ShownBuild) {
  if (status === "queued") return <span class="faint">–</span>;
  return durationText((until === undefined ? now.value : Date.parse(until)) - Date.parse(from));
}
