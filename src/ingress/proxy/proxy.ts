import { Failure } from "../../base/wire/failure.ts";
import type { SteadyClock } from "../../base/words/clock.ts";
import { createLimit } from "../../base/words/limit.ts";
import type { Log } from "../../base/words/log.ts";
import type { Change, ProxyFile, Running, ServerName, Setup } from "../core/change.ts";
import { changes } from "../core/changes.ts";
import { type Culprits, culpritsOf } from "../core/culprits.ts";
import { configPath } from "../core/layout.ts";
import { type ProxyFigures, readFigures } from "../core/figures/proxy-figures.ts";
import { write } from "../core/render.ts";
import type { Table } from "../core/table.ts";
import { createIsolation } from "./isolation.ts";
import { createDraining } from "./draining.ts";
import { createLooks } from "./looks.ts";
import { bindable, createPortGuard } from "./ports.ts";
import { readFiles, removeFiles, writeFiles } from "./files.ts";
import type { ProxyProcess } from "./process.ts";
import type { OldWorkers } from "./old-workers.ts";
import { readState, unfinishedFile, unsure } from "./running-state.ts";
import { createStateStore } from "./state-store.ts";
import { sendCommands } from "./send-commands.ts";
import type { RuntimeSocket } from "./runtime-socket.ts";

/** The proxy as one thing that serves a table. */
export interface IngressProxy {
  /**
   * Makes the proxy serve the table, starting it when it does not run. One call at a time. Resolves once the proxy has
   * taken all of it. Fails without a change to what is served when the disk or HAProxy refuses.
   */
  apply(table: Table): Promise<Applied>;
  /** Reloads the files on disk. */
  reload(): Promise<void>;
  /** Whether one of these upstreams (container ids) still serves a request or a WebSocket that it began. */
  isBusy(upstreams: ReadonlySet<string>): Promise<boolean>;
  /** Site → upstream → server, as the proxy knows them now. */
  running(): Running | undefined;
  pid(): Promise<number | undefined>;
  /** What HAProxy counts itself. Fails `unavailable` while it does not answer. */
  figures(): Promise<ProxyFigures>;
  /** Keeps it running and ends what leaves, until `signal` aborts; the proxy itself runs on. */
  run(signal: AbortSignal): Promise<void>;
  stop(graceMs: number): Promise<void>;
}

export interface Applied {
  /** Sites that were left out: their texts cannot be written safely, or their port cannot be listened on. */
  refused: Change["refused"];
  /** Why the files were reloaded; empty when they were not. */
  reloadReasons: string[];
  /** Why the files are older than what the proxy serves; left out where they are not. */
  unwritten?: string;
}

interface ProxyOptions {
  process: ProxyProcess;
  socket: RuntimeSocket;
  oldWorkers: OldWorkers;
  setup: Setup;
  clock: SteadyClock;
  log: Log;
  /** Connections of a replica that has left are closed after this. */
  drainMs: number;
  stateChangesBytesMax: number;
  /** Between two looks whether the process still runs. */
  lookMs: number;
  /** Between two looks at what leaves. */
  idleLookMs: number;
}

/** Between two looks at the size of its log. */
const trimMs = 60_000;

/** Rounds of one change in which HAProxy may name something to leave out. */
const isolationsMax = 20;

interface Making {
  change: Change;
  table: Table;
  refused: Change["refused"];
  isUp: boolean;
}

type Before = Awaited<ReturnType<typeof readFiles>>;

export function createProxy(options: ProxyOptions): IngressProxy {
  const { process, socket, setup, clock, log } = options;
  const unfinished = unfinishedFile(setup.paths);
  const draining = createDraining(socket);
  const state = createStateStore(setup.paths, options.stateChangesBytesMax);
  let running: Running | undefined;
  let [hasRead, isStopped] = [false, false];
  /** The proxy got a part of a change that failed. */
  let isUnsure = false;
  /** What the files on disk say, where they could not be written with a change that needed none; and what they leave over. */
  let behind: { written: Running | undefined; obsoleteFiles: string[] } | undefined;
  /** What HAProxy said of the files of the last change. */
  let complaint: string | undefined;
  const isolation = createIsolation();
  const ports = createPortGuard({ config: configPath(setup.paths), master: process.running }, log);
  /** Applies and restarts, one after the other. */
  const oneByOne = createLimit(1);
  let trimAt = 0;
  const looks = createLooks({
    clock,
    pauseMs() {
      // Each look wakes the server: without a proxy there is nothing to look for.
      if (draining.size > 0) return options.idleLookMs;
      return isStopped || running === undefined ? trimMs : options.lookMs;
    },
    async look() {
      await keepRunning();
      if (draining.size > 0) await draining.look(clock.now());
      if (clock.steady() < trimAt) return;
      trimAt = clock.steady() + trimMs;
      await process.trimLog();
    },
    onFailure: (error) => log.warn("ingress proxy not looked after", { error }),
  });

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => oneByOne(work).finally(looks.stir);

  /** Each round leaves out what HAProxy names as the cause; what it names nothing in is refused as a whole. */
  async function apply(wanted: Table): Promise<Applied> {
    if (!hasRead) {
      running = await readState(setup.paths);
      hasRead = true;
      await ports.tellShared(running?.table);
    }
    isStopped = false;
    for (let rounds = 1; ; rounds++) {
      const isUp = (await process.running()) !== undefined;
      const isolated = isolation.without(wanted, running?.table);
      const { table, refused: unbound } = await bindable(isolated.table, isUp ? running?.table.tcp : []);
      const change = changes(isUp ? running : undefined, table, setup);
      const refused = [...isolated.refused, ...unbound, ...change.refused];
      complaint = undefined;
      try {
        return await make({ change, table, refused, isUp });
      } catch (error) {
        const culprits = culpritsIn(change);
        if (rounds === isolationsMax || !isolation.note(culprits, wanted)) throw error;
        log.warn("HAProxy refuses a part of the configuration, which is left out", { complaint });
      }
    }
  }

  function culpritsIn({ files, assignment }: Change): Culprits {
    const config = files.find(({ path }) => path === configPath(setup.paths))?.content ?? "";
    return culpritsOf(complaint ?? "", config, assignment);
  }

  async function make({ change, table, refused, isUp }: Making): Promise<Applied> {
    const next: Running = { table, assignment: change.assignment };
    if (isUp && isNothing(change) && behind === undefined) {
      running = next;
      return { refused, reloadReasons: [] };
    }
    const files = behind === undefined ? change.files : [...write(next, setup).text.files.values()];
    const before = change.reload ? await readFiles(files) : known(files);
    const unwritten = await keep({ ...change, files }, next, isUp);
    try {
      if (!isUp) await begin(table);
      else await carryOut(change, unwritten);
    } catch (error) {
      if (isUnsure) running = running && unsure(running);
      if (unwritten === undefined) await putBack(before);
      if (!isUnsure) await removeFiles([unfinished.path]);
      throw error;
    }
    running = next;
    isUnsure = false;
    behind?.obsoleteFiles.push(...change.obsoleteFiles);
    if (unwritten !== undefined) return { refused, reloadReasons: [], unwritten };
    const old = (behind?.obsoleteFiles ?? change.obsoleteFiles).filter((path) => files.every((it) => it.path !== path));
    behind = undefined;
    await removeFiles([unfinished.path, ...old]);
    return { refused, reloadReasons: change.reloadReasons };
  }

  /** A change over the socket is made although the files cannot be written, for which this is why: visitors do not wait for room. */
  async function keep(change: Change, next: Running, isUp: boolean): Promise<string | undefined> {
    try {
      await state.write([unfinished, ...change.files], next, behind === undefined ? change.replaced : undefined);
      return undefined;
    } catch (error) {
      if (!isUp || change.reload || !(error instanceof Failure)) throw error;
      // The next server must not take what is on disk for what the proxy has. To remove a file takes no room.
      await state.forget();
      behind ??= { written: running, obsoleteFiles: [] };
      return error.message;
    }
  }

  async function begin(table: Table): Promise<void> {
    await accept();
    await start(table);
  }

  async function start(table: Table): Promise<void> {
    await ports.mustBeFree(table);
    draining.clear();
    await process.start();
    log.info("ingress proxy started", { pid: await process.running() });
  }

  async function carryOut(change: Change, unwritten: string | undefined): Promise<void> {
    // Asked first, so that the proxy gets nothing of a change that it would reject.
    if (change.reload) await accept();
    isUnsure = true;
    const failed = await sendCommands(change.commands, { socket, draining, beforeLoad: change.reload });
    for (const server of change.leaving) draining.add(server, clock.now() + options.drainMs);
    if (change.reload) return load(change.reloadReasons);
    if (failed === undefined) return;
    if (unwritten !== undefined) throw new Failure("unavailable", `${failed}, and no files to load: ${unwritten}`);
    await accept();
    await load([failed]);
  }

  /** Fails `conflict` when HAProxy refuses the files on disk. */
  async function accept(): Promise<void> {
    const fault = await process.check();
    complaint = fault;
    if (fault !== undefined) {
      throw new Failure("conflict", `HAProxy refuses the new configuration, the old one serves on: ${fault}`);
    }
  }

  async function load(reasons: readonly string[]): Promise<void> {
    await process.reload();
    options.oldWorkers.replaced();
    // The new worker has only the servers of its files.
    draining.clear();
    log.info("ingress proxy loaded its files", { reasons });
  }

  /** The files as the running table has them; without a load, they are what is on disk. */
  function known(files: readonly ProxyFile[]): Before {
    if (running === undefined) return [];
    const old = write(running, setup).text.files;
    return files.map((file) => ({ file, before: old.get(file.path)?.content }));
  }

  async function putBack(files: Before): Promise<void> {
    const old = files.flatMap(({ file, before }) => (before === undefined ? [] : [{ ...file, content: before }]));
    const write = running === undefined ? writeFiles(old) : state.write(old, running);
    await write.catch((error) => log.error("old proxy files not put back", { error }));
  }

  /** The files hold the newest table, so a start is all that it takes. */
  async function keepRunning(): Promise<void> {
    if (isStopped || running === undefined || (await process.running()) !== undefined) return;
    await inTurn(async () => {
      if (isStopped || running === undefined || (await process.running()) !== undefined) return;
      running = behind?.written ?? running;
      const { table } = running;
      log.warn("ingress proxy is gone, starting it again");
      // What ran had these files: they are only looked at where it does not start.
      await start(table).catch(() => begin(table));
    });
  }

  return {
    apply: (table) => inTurn(() => apply(table)),
    async reload() {
      await inTurn(() => accept().then(() => load(["asked for"])));
    },
    async isBusy(upstreams) {
      const servers = serversOf(running, upstreams);
      if (servers.some(draining.isBusy)) return true;
      for (const server of servers) if (await options.oldWorkers.mayUse(server)) return true;
      return false;
    },
    running: () => running,
    pid: process.running,
    figures: async () => readFigures(await socket.ask("show info\n"), await socket.ask("show stat\n")),
    run: looks.run,
    async stop(graceMs) {
      await inTurn(async () => {
        isStopped = true;
        await process.stop(graceMs);
      });
    },
  };
}

function isNothing({ files, obsoleteFiles, commands, leaving, reload }: Change): boolean {
  return !reload && [files, obsoleteFiles, commands, leaving].every((list) => list.length === 0);
}

function serversOf(running: Running | undefined, upstreams: ReadonlySet<string>): ServerName[] {
  return Object.entries(running?.assignment.servers ?? {}).flatMap(([backend, servers]) =>
    Object.entries(servers).flatMap(([id, { name }]) => (upstreams.has(id) ? [{ backend, server: name }] : [])),
  );
}
