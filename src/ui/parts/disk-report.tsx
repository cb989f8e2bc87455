import type { HostDisk, MountForecast } from "../../observability/api/disk.ts";
import { planPrune, prune } from "../../orchestration/api/disk.ts";
import { api, faultText } from "../data/api.ts";
import { lacks } from "../data/session.ts";
import { now } from "../browser/clock.ts";
import { diskRows, forecastText, pruneEffects } from "../text/disk.ts";
import { bytesText, shareText } from "../text/figures.ts";
import { agoText } from "../text/times.ts";
import { Button } from "./button.tsx";
import { ask } from "./dialog.tsx";
import { Meter } from "./meter.tsx";
import { Loading, Note } from "./notes.tsx";
import { State } from "./state.tsx";
import { Table } from "./table.tsx";
import { say } from "../data/notices.ts";

/** Each file system with its forecast, and what fills the disk. */
export function DiskReport({ disk, again }: { disk: HostDisk; again: () => void }) {
  return (
    <>
      <section class="section">
        <h2>File systems</h2>
        <Table
          label="File systems"
          rows={disk.mounts}
          keyOf={({ mount }) => mount}
          columns={[
            { title: "Mount", cell: ({ mount }) => <code>{mount}</code> },
            { title: "In use", cell: useOf },
            { title: "Free", right: true, cell: (one) => bytesText(one.total_bytes - one.used_bytes) },
            { title: "Full", cell: (one) => <Full of={one} /> },
          ]}
        />
      </section>
      <section class="section">
        <header>
          <h2>What fills the disk</h2>
          <span class="row">
            <span class="small soft">{measuredText(disk)}</span>
            <Button
              hindrance={lacks("admin")}
              onClick={() => void askPrune(again).catch((error: unknown) => say(faultText(error), "bad"))}
            >
              Make room…
            </Button>
          </span>
        </header>
        {disk.error === undefined ? null : <Note tone="warn">{`The disk could not be measured: ${disk.error}`}</Note>}
        {disk.measured_at === undefined ? disk.measuring ? <Loading label="the disk" /> : null : <Parts disk={disk} />}
      </section>
    </>
  );
}

function useOf({ mount, used_bytes: used, total_bytes: total }: MountForecast) {
  return (
    <span class="use">
      <Meter part={used} whole={total} label={`Use of ${mount}`} />
      <span>{`${bytesText(used)} of ${bytesText(total)}, ${shareText(used, total)}`}</span>
    </span>
  );
}

function Full({ of }: { of: MountForecast }) {
  const { tone, text } = forecastText(of, now.value);
  return <State tone={tone} text={text} />;
}

function measuredText({ measured_at: at, measuring }: HostDisk): string {
  if (at === undefined) return measuring ? "measuring for the first time" : "not measured yet";
  return `measured ${agoText(Date.parse(at), now.value)}${measuring ? ", measuring again" : ""}`;
}

function Parts({ disk }: { disk: HostDisk }) {
  return (
    <Table
      label="What fills the disk"
      rows={diskRows(disk)}
      keyOf={({ name }) => name}
      columns={[
        { title: "What", cell: ({ name, href }) => (href === undefined ? name : <a href={href}>{name}</a>) },
        { title: "Size", right: true, cell: ({ bytes }) => <span class="unbroken">{bytesText(bytes)}</span> },
        {
          title: "Bounded by",
          cell: ({ bytes, capBytes, cap }) => (
            <span class="soft">
              {capBytes === undefined
                ? cap
                : `at most ${bytesText(capBytes)}, ${shareText(bytes, capBytes)} of it is there`}
            </span>
          ),
        },
        { title: "Of it", cell: ({ more }) => <span class="soft">{more}</span> },
      ]}
    />
  );
}

/** Asks the server what a prune would remove, shows that, and removes it when the viewer says so. */
async function askPrune(again: () => void): Promise<void> {
  const plan = await api.call(planPrune);
  const effects = pruneEffects(plan);
  if (plan.images.length === 0 && plan.build_cache_bytes === 0) {
    say("There is nothing to remove: the server removes old images by itself");
    return;
  }
  ask({
    title: `Make room: about ${bytesText(plan.bytes)}`,
    verb: "Remove",
    danger: true,
    command: "berth prune",
    effects,
    run: async () => {
      const done = await api.call(prune);
      say(`Removed ${bytesText(done.bytes)}`);
      again();
    },
  });
}
