import { assign, fitsPool, nothingAssigned, pooled } from "./assign.ts";
import type { Assignment, Change, Command, Running, ServerName, Setup } from "./change.ts";
import { certificatesToAdd, certificatesToDrop, mapCommands, type Step, serverCommands } from "./difference.ts";
import { noteWritten, type Rendered, writable, write } from "./render.ts";
import { replicaChanges } from "./replica-changes.ts";
import type { Table } from "./table.ts";

/** The least that makes the proxy serve `next`. `running` is undefined when there is no proxy yet. */
export function changes(running: Running | undefined, next: Table, setup: Setup): Change {
  return (running && replicaChanges(running, next, setup)) ?? allChanges(running, next, setup);
}

export function allChanges(running: Running | undefined, next: Table, setup: Setup): Change {
  const { table, refused } = writable(next, setup);
  const before = running?.assignment ?? nothingAssigned;
  const planned = assign(before, table);
  const written = running && write(running, setup);
  // What was left out then was never told to the proxy.
  const had = running && written && { ...running, table: written.checked.table };
  const old = written?.text;
  const plannedText = write({ table: next, assignment: planned }, setup).text;
  const reasons =
    running === undefined ? ["the proxy was not running"] : loadReasons(running, planned, plannedText, setup);
  const step = had && old && { running: had, table, old, assignment: planned, text: plannedText, setup };
  if (step !== undefined && reasons.length === 0)
    return { ...withoutLoad(step), ...fileChanges(old, plannedText), refused };
  const sized = pooled(planned, setup.spareBackends);
  const text = write({ table: next, assignment: sized }, setup).text;
  const assignment = { ...sized, loaded: text.fixed };
  noteWritten(assignment, write({ table: next, assignment: sized }, setup));
  return {
    assignment,
    ...filesOfLoad(old, text),
    reload: true,
    reloadReasons: reasons,
    commands: step === undefined ? [] : commandsBeforeLoad(step),
    leaving: [],
    refused,
  };
}

function loadReasons(running: Running, planned: Assignment, text: Rendered, setup: Setup): string[] {
  const { loaded, backends, servers } = running.assignment;
  const isLoaded = Object.entries(text.fixed).every(([name, digest]) => loaded[name] === digest);
  const sites = isLoaded ? [] : Object.entries(planned.backends);
  const siteOf = new Map(sites.map(([site, backend]) => [backend, site]));
  const changed = Object.entries(text.fixed).flatMap(([name, digest]) => {
    if (loaded[name] === digest) return [];
    const site = siteOf.get(name);
    return [
      site === undefined
        ? `changed: ${name}`
        : `${site}: ${Object.hasOwn(backends, site) ? "other options" : "new, with options of its own"}`,
    ];
  });
  // A port that is closed, or a plain or TLS frontend that is switched off, has to stop listening.
  const closed = Object.keys(loaded).filter((name) => /^(?:frontend |in_)/.test(name) && !(name in text.fixed));
  const fixedServers = !setup.capabilities.addServer && !Bun.deepEquals(servers, planned.servers);
  return [
    ...changed,
    ...closed.map((name) => `closed: ${name}`),
    ...(fitsPool(planned) ? [] : ["no spare backend is left"]),
    ...(fixedServers ? ["this HAProxy cannot add servers while it runs"] : []),
  ];
}

/** In the order in which no request is without a way: what is new first, then the routes, then what goes. */
function withoutLoad(step: Step): Omit<Change, "files" | "obsoleteFiles" | "refused"> {
  const servers = serverCommands(step);
  const commands: Command[] = [
    ...certificatesToAdd(step),
    ...servers.entering,
    ...mapCommands(step),
    ...servers.leaving.map((name): Command => ({ kind: "disable-server", ...name })),
    ...certificatesToDrop(step),
  ];
  const leaving: ServerName[] = servers.leaving;
  return { assignment: step.assignment, reload: false, reloadReasons: [], commands, leaving };
}

/**
 * The process that a load replaces answers one more request on each connection that is open. So it gets the replicas
 * and routes as well, where it has a backend for them.
 */
function commandsBeforeLoad(step: Step): Command[] {
  const { loaded, poolSize } = step.running.assignment;
  const isThere = (backend: string) =>
    /^p\d+$/.test(backend) ? Number(backend.slice(1)) <= poolSize : Object.hasOwn(loaded, backend);
  return withoutLoad(step).commands.filter((command) => {
    if ("backend" in command) return step.setup.capabilities.addServer && isThere(command.backend);
    return (command.kind === "add-map" || command.kind === "set-map") && !command.value.includes("|")
      ? isThere(command.value)
      : command.kind === "delete-map";
  });
}

/**
 * What is on disk may be of an older version of the server, which wrote other texts for the same table. Certificates are
 * the same in all of them, and there may be thousands.
 */
function filesOfLoad(old: Rendered | undefined, next: Rendered): Pick<Change, "files" | "obsoleteFiles"> {
  const { files, obsoleteFiles } = fileChanges(old, next);
  const always = [...next.files.values()].filter(({ path }) => !path.endsWith(".pem"));
  return { files: [...new Set([...always, ...files])], obsoleteFiles };
}

function fileChanges(old: Rendered | undefined, next: Rendered): Pick<Change, "files" | "obsoleteFiles"> {
  return {
    files: [...next.files.values()].filter(({ path, content }) => old?.files.get(path)?.content !== content),
    obsoleteFiles: [...(old?.files.keys() ?? [])].filter((path) => !next.files.has(path)),
  };
}
