import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeAtomic } from "../../base/disk/atomic-write.ts";
import { findBinary } from "../../ingress/proxy/binary.ts";
import { ingressUnit, serveWords, serverUnit } from "../unit.ts";
import { type Machine, must, places } from "./machine.ts";

const serverFile = join(places.units, places.server);
const ingressFile = join(places.units, places.ingress);

export const unitFiles = [serverFile, ingressFile];

/** The words of `berth serve` in the unit that is installed; undefined where none is. */
export function installedWords(): string[] | undefined {
  return existsSync(serverFile) ? serveWords(readFileSync(serverFile, "utf8")) : undefined;
}

/** The value of a flag among the words of `berth serve`. */
export function flagOf(words: readonly string[], name: string): string | undefined {
  const index = words.indexOf(`--${name}`);
  return index === -1 ? undefined : words[index + 1];
}

/** The words with other values of some flags. `true` is a flag without a value. */
export function withFlags(words: readonly string[], given: Record<string, string | true>): string[] {
  const kept: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    const hasValue = word.startsWith("--") && words[index + 1]?.startsWith("--") === false;
    const isReplaced = word.startsWith("--") && given[word.slice(2)] !== undefined;
    if (!isReplaced) kept.push(...words.slice(index, index + (hasValue ? 2 : 1)));
    if (hasValue) index += 1;
  }
  const added = Object.entries(given).flatMap(([name, value]) => [`--${name}`, ...(value === true ? [] : [value])]);
  return [...kept, ...added];
}

/** Writes the units. HAProxy gets one where this machine has it; without one the server starts it itself. */
export async function writeUnits(machine: Machine, words: readonly string[], root: string): Promise<void> {
  const haproxy = await findBinary();
  const environment: Record<string, string> = haproxy.ok ? { BERTH_INGRESS_UNIT: places.ingress } : {};
  if (haproxy.ok) await writeAtomic(ingressFile, ingressUnit({ haproxy: haproxy.binary.path, root }), 0o644);
  await writeAtomic(serverFile, serverUnit({ executable: places.executable, words, environment }), 0o644);
  await must(machine, ["systemctl", "daemon-reload"]);
}

export async function isActive(machine: Machine, unit: string): Promise<boolean> {
  return (await machine.run(["systemctl", "is-active", "--quiet", unit])).exitCode === 0;
}
