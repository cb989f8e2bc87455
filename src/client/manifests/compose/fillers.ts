import { isFields } from "../../../base/pure/fields.ts";
import type { Lose } from "./lose.ts";
import { namesOne } from "./names.ts";
import { startsAfter } from "./once.ts";

type Fields = Record<string, unknown>;

/**
 * Names services that may only fill a volume and end, as builds of a front end do: nothing in the file says so, and here they are
 * restarted. `texts` are those of mounted files, where a proxy names what it leads to.
 */
export function tellFillers(services: Fields, texts: readonly string[], lose: Lose): void {
  for (const [service, fields] of Object.entries(services)) {
    if (!isFields(fields) || fields.build === undefined || says.some((field) => given(fields[field]))) continue;
    const others = Object.entries(services).flatMap(([name, one]) => (name !== service && isFields(one) ? [one] : []));
    const isReached = others.some((other) => startsAfter(other, service) || namesOne([service], other));
    const isNamed = texts.some((text) => text.split(/[^\w.-]+/).includes(service));
    const own = volumesOf(fields);
    const isShared = others.some((other) => volumesOf(other).some((name) => own.includes(name)));
    if (isShared && !isReached && !isNamed)
      lose(
        `services.${service}`,
        `"${service}" is restarted when it ends: where it only fills a volume, make it a job`,
        "note",
      );
  }
}

/** Fields that tell whether a service runs on. */
const says = ["command", "entrypoint", "ports", "expose", "healthcheck", "restart", "deploy"];

function given(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Names of the volumes that a service mounts. */
function volumesOf({ volumes }: Fields): string[] {
  const list = Array.isArray(volumes) ? volumes : [];
  return list
    .map((item) => String(isFields(item) ? item.source : item).split(":")[0] ?? "")
    .filter((name) => /^[a-zA-Z0-9]/.test(name));
}
