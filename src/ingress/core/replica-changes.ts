import { reassign } from "./assign.ts";
import type { Assignment, Change, Command, Running, Setup } from "./change.ts";
import { configText, serverLines, withOtherServers } from "./config.ts";
import { serverCommands } from "./difference.ts";
import { configPath } from "./layout.ts";
import { lastWritten, noteWritten, problemOfSite, type Rendered, type Written } from "./render.ts";
import { type AnySite, isHttp } from "./servers.ts";
import type { Certificate, Table } from "./table.ts";

/** With more sites than this, everything is compared. */
const sitesMax = 64;

interface Replaced {
  was: AnySite;
  now: AnySite;
}

/**
 * The commonest change: replicas of a few sites come and go, and nothing else. It takes the same time however many sites
 * there are. Undefined when it is another change, or not enough is known; what it returns is what `allChanges` returns.
 */
export function replicaChanges(running: Running, next: Table, setup: Setup): Change | undefined {
  const old = lastWritten(running, setup);
  if (old === undefined || old.checked.refused.length > 0 || !setup.capabilities.addServer) return undefined;
  const sites = replacedSites(running.table, next);
  if (sites?.every(({ now }) => problemOfSite(now, next, setup) === undefined) !== true) return undefined;
  const assignment = reassign(
    running.assignment,
    sites.map(({ now }) => now),
  );
  const text = withServers(old, sites, assignment);
  noteWritten(assignment, { table: next, checked: { table: next, refused: [] }, setup, text });
  const of = (table: Table, which: keyof Replaced): Table => {
    const list = sites.map((one) => one[which]);
    return { ...table, sites: list.filter(isHttp), tcp: list.flatMap((site) => (isHttp(site) ? [] : [site])) };
  };
  const { entering, leaving } = serverCommands({
    running: { table: of(running.table, "was"), assignment: running.assignment },
    table: of(next, "now"),
    assignment,
  });
  const config = text.files.get(configPath(setup.paths));
  const isOther = config !== undefined && config !== old.text.files.get(config.path);
  return {
    assignment,
    replaced: sites.map(({ now }) => now),
    files: isOther ? [config] : [],
    obsoleteFiles: [],
    reload: false,
    reloadReasons: [],
    commands: [...entering, ...leaving.map((name): Command => ({ kind: "disable-server", ...name }))],
    leaving,
    refused: [],
  };
}

function withServers({ text, setup }: Written, sites: readonly Replaced[], assignment: Assignment): Rendered {
  const lines = sites.map(({ now }): [string, string] => {
    const backend = assignment.backends[now.id] ?? "";
    return [backend, serverLines(now, assignment.servers[backend] ?? {})];
  });
  const sections = withOtherServers(text.sections, new Map(lines));
  const isSame = sections.groups.every((one, index) => one === text.sections.groups[index]);
  if (isSame) return text;
  const path = configPath(setup.paths);
  const files = new Map(text.files).set(path, { path, content: configText(sections), mode: 0o600 });
  return { ...text, files, sections };
}

/** Undefined when anything but replicas is another. */
function replacedSites(before: Table, next: Table): Replaced[] | undefined {
  const isSame =
    before.onDemand === next.onDemand &&
    Bun.deepEquals(before.listen, next.listen) &&
    Bun.deepEquals(before.challenges, next.challenges) &&
    sameCertificates(before.certificates, next.certificates);
  if (!isSame) return undefined;
  const found: Replaced[] = [];
  const isTaken = replaced(before.sites, next.sites, found) && replaced(before.tcp, next.tcp, found);
  return isTaken ? found : undefined;
}

function replaced(before: readonly AnySite[], next: readonly AnySite[], found: Replaced[]): boolean {
  if (before.length !== next.length) return false;
  for (const [index, now] of next.entries()) {
    const was = before[index];
    if (was === now) continue;
    if (was === undefined || found.length === sitesMax || !isOnlyReplicas(was, now)) return false;
    found.push({ was, now });
  }
  return true;
}

function isOnlyReplicas(was: AnySite, now: AnySite): boolean {
  return was.id === now.id && Bun.deepEquals({ ...was, upstreams: [] }, { ...now, upstreams: [] });
}

function sameCertificates(before: readonly Certificate[], next: readonly Certificate[]): boolean {
  return (
    before.length === next.length &&
    next.every((now, index) => {
      const was = before[index];
      return was === now || Bun.deepEquals(was, now);
    })
  );
}
