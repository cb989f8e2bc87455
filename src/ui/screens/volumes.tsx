import { hostDisk } from "../../observability/api/disk.ts";
import type { VolumeUse } from "../../orchestration/api/disk.ts";
import { api } from "../data/api.ts";
import { useLoad } from "../data/load.ts";
import { now } from "../browser/clock.ts";
import { Page } from "../frame/page.tsx";
import { appPath } from "../browser/paths.ts";
import { Shown } from "../parts/loaded.tsx";
import { Empty, Loading, Note } from "../parts/notes.tsx";
import { State } from "../parts/state.tsx";
import { Table } from "../parts/table.tsx";
import { bytesText, many } from "../text/figures.ts";
import type { Tone } from "../text/states.ts";

const lookMs = 3_000;

/** Every volume of this installation: whose it is, how large, and whether it is still needed. */
export function Screen() {
  const loaded = useLoad("volumes", (signal) => api.call(hostDisk, { signal }));
  const version = loaded.data?.measuring === true ? String(Math.floor(now.value / lookMs)) : "";
  const next = useLoad("volumes again", (signal) => api.call(hostDisk, { signal }), version);
  return (
    <Page title="Volumes" command="berth disk --volumes">
      <Shown of={next.data === undefined ? loaded : next} label="the volumes" scope="host:read">
        {({ volumes, measured_at: at, measuring, error }) => (
          <>
            {error === undefined ? null : <Note tone="warn">{`The volumes could not be measured: ${error}`}</Note>}
            {at === undefined ? measuring ? <Loading label="the volumes" /> : null : <List volumes={volumes} />}
          </>
        )}
      </Shown>
      <Note>
        <span>
          A backup of the server holds its state, and no data of volumes. Back up databases with the commands of their
          plugin.
        </span>
      </Note>
    </Page>
  );
}

const tones: Record<VolumeUse["state"], Tone> = { used: "good", idle: "idle", kept: "idle", leftover: "warn" };
const texts: Record<VolumeUse["state"], string> = {
  used: "in use",
  idle: "not mounted",
  kept: "kept",
  leftover: "left over",
};

function List({ volumes }: { volumes: readonly VolumeUse[] }) {
  if (volumes.length === 0) {
    return (
      <Empty title="No volumes yet">
        <p>A statefulset with volume_claims makes one for each replica, and an app with volumes names its own.</p>
      </Empty>
    );
  }
  const left = volumes.filter(({ state }) => state === "leftover");
  return (
    <>
      <p class="soft">
        {`${many(volumes.length, "volume")}, ${bytesText(volumes.reduce((sum, { bytes = 0 }) => sum + bytes, 0))}; ${left.length} left over`}
      </p>
      <Table
        label="Volumes"
        rows={volumes.toSorted((a, b) => (b.bytes ?? 0) - (a.bytes ?? 0))}
        keyOf={({ volume }) => volume}
        columns={[
          { title: "State", cell: ({ state }) => <State tone={tones[state]} text={texts[state]} /> },
          { title: "Volume", cell: ({ volume }) => <code>{volume}</code> },
          { title: "App", cell: appOf },
          {
            title: "Size",
            right: true,
            cell: ({ bytes }) => (bytes === undefined ? <span class="faint">not measured</span> : bytesText(bytes)),
          },
          { title: "To remove it", cell: ({ remove }) => (remove === undefined ? null : <code>{remove}</code>) },
        ]}
      />
    </>
  );
}

function appOf({ scope, name, state }: VolumeUse) {
  if (name === "") return scope;
  if (state === "leftover" || state === "kept") return `${scope}/${name}`;
  return <a href={appPath({ scope, name })}>{`${scope}/${name}`}</a>;
}
