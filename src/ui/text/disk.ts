import type { HostDisk, MountForecast } from "../../observability/api/disk.ts";
import { bytesText } from "./figures.ts";
import type { Tone } from "./states.ts";

interface DiskRow {
  name: string;
  bytes: number;
  cap: string;
  capBytes?: number;
  more?: string;
  href?: string;
}

/** What fills the disk, the largest first; what is empty is left out. */
export function diskRows({ engine, stores }: Pick<HostDisk, "engine" | "stores">): DiskRow[] {
  const own = stores.map(({ name, bytes, cap, cap_bytes: capBytes }) => ({
    ...{ name: `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`, bytes, cap },
    ...(capBytes === undefined ? {} : { capBytes }),
  }));
  return [...(engine === undefined ? [] : engineRows(engine)), ...own]
    .filter(({ bytes }) => bytes > 0)
    .toSorted((a, b) => b.bytes - a.bytes);
}

function engineRows({ images, build_cache: cache, volumes, containers }: NonNullable<HostDisk["engine"]>): DiskRow[] {
  const parts = [
    [images.used_bytes, "in use"],
    [images.rollback_bytes, "for rollbacks"],
    [images.removable_bytes, "needed by nothing"],
    [images.foreign_bytes, "unused, not brought by the server"],
  ] as const;
  return [
    {
      name: "Images",
      bytes: images.bytes,
      cap: "unused ones are removed",
      more: parts
        .filter(([bytes]) => bytes > 0)
        .map(([bytes, text]) => `${bytesText(bytes)} ${text}`)
        .join(", "),
    },
    { name: "Build cache", bytes: cache.bytes, cap: "Docker", more: `${bytesText(cache.unused_bytes)} unused` },
    { name: "Volumes", bytes: volumes.bytes, cap: "nothing: they are data of apps", href: "/volumes" },
    {
      name: "Containers",
      bytes: containers.writable_bytes,
      cap: "nothing: it goes with each container",
      more: "written outside of volumes",
    },
    { name: "Container logs", bytes: containers.log_bytes ?? 0, cap: "size and number of files of each container" },
  ];
}

const dayMs = 24 * 3_600_000;
const soonMs = 7 * dayMs;
const laterMs = 30 * dayMs;

/** When a file system is full. */
export function forecastText({ forecast, full_at: at }: MountForecast, now: number): { tone: Tone; text: string } {
  if (forecast === "history") return { tone: "idle", text: "not enough history" };
  if (forecast === "steady" || at === undefined) return { tone: "good", text: "not within a year" };
  const left = Date.parse(at) - now;
  if (left <= 0) return { tone: "bad", text: "now" };
  const days = left / dayMs;
  const text = days < 1 ? "within a day" : `in about ${Math.round(days)} ${Math.round(days) === 1 ? "day" : "days"}`;
  return { tone: left < soonMs ? "bad" : left < laterMs ? "warn" : "good", text };
}

interface Plan {
  images: readonly { ref: string; bytes: number }[];
  build_cache_bytes: number;
  leftovers: readonly { scope: string; name: string; volumes: readonly string[] }[];
}

const namedMax = 8;

/** What a prune removes, and what it leaves. */
export function pruneEffects({
  images,
  build_cache_bytes: cache,
  leftovers,
}: Plan): { text: string; ends?: boolean }[] {
  const more = images.length - namedMax;
  return [
    ...images
      .slice(0, namedMax)
      .map(({ ref, bytes }, at) => ({ text: `${at + 1}. image ${ref}, ${bytesText(bytes)}`, ends: true })),
    ...(more > 0 ? [{ text: `and ${more} more images`, ends: true }] : []),
    ...(cache > 0
      ? [{ text: `${bytesText(cache)} of unused build cache; the next build takes longer`, ends: true }]
      : []),
    { text: "Images of running apps, and those that a rollback needs, stay" },
    { text: "Volumes stay, also those of deleted apps" },
    ...(leftovers.length === 0
      ? []
      : [
          {
            text: `Data of ${leftovers.length} deleted ${leftovers.length === 1 ? "app" : "apps"} stays: see berth get leftovers`,
          },
        ]),
  ];
}
