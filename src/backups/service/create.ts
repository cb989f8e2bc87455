import { aborted, createWaker } from "../../base/words/abort.ts";
import { isoTime } from "../../base/pure/iso-time.ts";
import { Failure } from "../../base/wire/failure.ts";
import { createLimit } from "../../base/words/limit.ts";
import type { BackupTarget, BackupTargetBody } from "../api/backups.ts";
import { stateWhat } from "../core/subject.ts";
import { noTarget } from "../core/target.ts";
import { makeRecoveryKey, readRecoveryKey } from "../core/recovery-key.ts";
import { createBesideCopies } from "./part-copies.ts";
import { createKey, madeNow, type StoredTarget } from "./records.ts";
import { createRepairs, type Repairs } from "./repairs.ts";
import { createInspector, createLedger } from "./watched.ts";
import { createLocks } from "./locks.ts";
import type { BackupOptions } from "./options.ts";
import { createTwins, type Twins } from "./twins.ts";
import { createListing, failingOf, isCopy, type Listing, newestFirst, shownTarget } from "./shown.ts";
import { createRepository, type Repository } from "./repository.ts";
import { readTargetBody, refuseOwn } from "./target-body.ts";
import { createStill } from "./still.ts";
import { createStateCopies } from "./state-copies.ts";
import { createVolumeRuns, type VolumeRuns } from "./volume-runs.ts";

/** Copies of the server's state at targets outside of the machine. */
export interface Backups extends Listing {
  listTargets(): BackupTarget[];
  listApps: VolumeRuns["apps"];
  /** Fails `invalid` for a body that says nothing useful, and as the target does that cannot be opened. */
  putTarget(name: string | null, body: BackupTargetBody, actor: string): Promise<BackupTarget>;
  testTarget(name: string | null): Promise<{ name: string; snapshots: number; newest_at?: string | undefined }>;
  removeTarget(name: string | null, actor: string): Promise<{ name: string }>;
  /** Made with the first call. */
  showKey(actor: string): Promise<string>;
  /**
   * Begins to copy the state and every protected volume, or only the volumes of `app` (`scope/name`): each of `copies` has a
   * run that started at `since` or later once it has ended. Fails `conflict` while copies are held, `not_found` for an unknown
   * target, and as `VolumeRuns.copiesOf` does.
   */
  runNow(
    target: string | undefined,
    app?: string,
  ): Promise<{ since: string; copies: { target: string; what: string }[] }>;
  /** Copies the volumes of an app now, and waits for the end. Fails as `runNow`, and `conflict` with the first copy that failed. */
  copyNow(app: string): Promise<void>;
  /** What a target holds. Fails `not_found` for an unknown one. */
  repository(target: string): Promise<Repository>;
  /** What was not copied the last time, of the state and of each protected volume: since when, and why. */
  failing(): { target: string; what: string; sinceAt: number; error: string }[];
  /** Makes a repository with a new key at each target, and copies everything there. Fails where a target does not answer. */
  newKey(actor: string): Promise<{ key: string; targets: string[] }>;
  takeOver: Twins["takeOver"];
  repairs: Repairs;
  /** Whether the engine has an image now, from a copy of it if need be. Never rejects. */
  bringImage(id: string): Promise<boolean>;
  /** Makes the copies that are due, until `signal` aborts; not before the gate is open. Looks at the targets always. */
  run(signal: AbortSignal): Promise<void>;
}

export function createBackups(options: BackupOptions): Backups {
  const { records, restic, installationId, gate, clock, log, limits, images, parts, platform, dumps } = options;
  const twins = createTwins({
    ...{ life: options.life, clock, log, limits, onEvent: options.onEvent, isUnconfirmed: options.isUnconfirmed },
    targets: () => records.targets().map(({ name }) => name),
    open: (target) => repositoryOf(stored(target)),
    newLife: () => Buffer.from(options.randomBytes(8)).toString("hex"),
    async onReplaced(target) {
      log.warn("another server took the place of this one", { target });
      const detail = { target, why: options.life.heldBy() ?? "" };
      await options.onEvent({ actor: "reconciler", action: "backup.replaced", detail });
      await options.onReplaced();
    },
  });
  /** One copy of a volume at a time. It may take hours: targets are opened beside it, one at a time too. */
  const [copying, opening] = [options.turn, createLimit(1)];
  const locks = createLocks(clock.steady, limits);
  const ledger = createLedger(records, clock, limits);
  const inspector = createInspector(records, clock, log, limits);
  /** `waker`: of the loop that copies volumes. */
  const [closing, waker] = [new AbortController(), createWaker()];

  const key = createKey(records, () => makeRecoveryKey(installationId, options.randomBytes(200)).text);

  // A restored server goes on with the copies that it was restored from.
  const repositoryOf = async (target: StoredTarget) => repositoryWith(await key(), target);

  function repositoryWith(recoveryKey: string, target: StoredTarget): Repository {
    const { installation, text } = readRecoveryKey(recoveryKey);
    const access = { url: target.url, credentials: target.credentials, installation, password: text };
    const repository = createRepository(restic, access, limits, locks, () => repairs.isFresh(target.name));
    return ledger.watch(target, repository);
  }

  const looks = { look: twins.look, looked: twins.looked, isFresh: (target: string) => repairs.isFresh(target) };
  const shared = { records, clock, log, limits, restic, locks, repositoryOf, ...looks };
  const beside = createBesideCopies({ ...shared, images, parts, turn: copying, closing: closing.signal });
  const still = createStill({ ...shared, platform, closing: closing.signal });
  const volumes: VolumeRuns = createVolumeRuns({ ...shared, platform, dumps, still, copying });

  function stored(name: string | null): StoredTarget {
    const target = records.targets().find((one) => one.name === name);
    if (target === undefined)
      throw new Failure("not_found", `no target "${name}"; berth backup target list shows them`);
    return target;
  }

  const chosen = (target: string | undefined) => (target === undefined ? records.targets() : [stored(target)]);

  const states = createStateCopies({
    ...shared,
    ...{ stage: options.stage, onCopied: options.onCopied, stateDigest: options.stateDigest },
    ...{ turn: copying, reading: options.reading },
    async expireVolumes(...target) {
      await volumes.expire(...target);
      await beside.expire(...target);
    },
    inspect: inspector.inspect,
  });

  const repairs = createRepairs(
    { ...shared, stored, onEvent: options.onEvent, closing: closing.signal, random: options.randomBytes },
    { states, volumes, beside, turn: copying, reading: options.reading },
  );
  const shown = (target: StoredTarget) =>
    shownTarget(target, {
      ...{ runs: records.runs(target.name), held: gate.heldBy(), nextAt: states.nextAt(target) },
      currentAt: states.isCurrent(target) ? clock.now() : undefined,
      failing: [...volumes.failing(), ...beside.failing()],
    });

  return {
    listTargets: () => records.targets().map(shown),
    listApps: volumes.apps,
    async putTarget(name, body, actor) {
      const target = readTargetBody(name, body, { limits, now: clock.now() });
      if (records.targets().filter((one) => one.name !== target.name).length >= limits.targetsMax)
        throw new Failure("conflict", `there are ${limits.targetsMax} targets already`);
      await refuseOwn(target.url, options.isOurs);
      await restic.version();
      await opening(async () => (await repositoryOf(target)).make());
      const { createdAt } = records.targets().find((one) => one.name === target.name) ?? target;
      const stands = { ...target, createdAt };
      await records.putTarget(stands);
      await ledger.forgive(stands.name);
      await options.onEvent({ actor, action: "backup.target.set", detail: { target: stands.name, url: stands.url } });
      waker.wake();
      states.wake();
      return shown(stands);
    },
    async testTarget(name) {
      const target = stored(name);
      const found = (await (await repositoryOf(target)).snapshots()).filter(isCopy);
      const newest = newestFirst(found)[0];
      return { name: target.name, snapshots: found.length, newest_at: newest && isoTime(newest.at) };
    },
    async removeTarget(name, actor) {
      const target = stored(name);
      await records.removeTarget(target.name);
      await options.onEvent({ actor, action: "backup.target.remove", detail: { target: target.name } });
      states.end(target.name);
      return { name: target.name };
    },
    async showKey(actor) {
      const text = await key();
      await options.onEvent({ actor, action: "backup.key.show", detail: {} });
      return text;
    },
    async newKey(actor) {
      gate.mustBeOpen("no key is made");
      const [random, name] = [options.randomBytes(200), Buffer.from(options.randomBytes(8)).toString("hex")];
      const { text } = makeRecoveryKey(name, random);
      const targets = records.targets();
      for (const target of targets) await opening(() => repositoryWith(text, target).make());
      await records.setKey(text);
      for (const { name: target } of targets) states.end(target);
      await states.alone(async () => undefined);
      for (const { name: target } of targets) {
        await ledger.forgive(target);
        await records.putRuns(target, []);
        // A copy of a volume that is under way still goes to the old place, and is made again.
        const again = () =>
          Promise.all(records.volumeRuns(target).map(({ what }) => records.putRuns(target, [], what)));
        volumes
          .settled()
          .then(again)
          .catch((error: unknown) => log.error("copies not made again", { target, error }));
      }
      await options.onEvent({ actor, action: "backup.key.new", detail: {} });
      states.wake();
      waker.wake();
      return { key: text, targets: targets.map((target) => target.name) };
    },
    async runNow(target, app) {
      gate.mustBeOpen("no copy is made");
      const targets = chosen(target);
      if (targets.length === 0) throw noTarget();
      const ofVolumes = volumes.copiesOf(app, targets);
      await restic.version();
      const since = isoTime(clock.now());
      const ofState = app === undefined ? targets.map(({ name }) => ({ target: name, what: stateWhat })) : [];
      for (const one of ofState) states.copyTo(one.target, closing.signal).catch(() => undefined);
      const ofServer = app === undefined ? beside.copiesOf(targets) : [];
      const others = [...ofVolumes, ...ofServer];
      for (const one of others) one.start(closing.signal).catch(() => undefined);
      return { since, copies: [...ofState, ...others.map(({ target: name, what }) => ({ target: name, what }))] };
    },
    async copyNow(app) {
      gate.mustBeOpen("no copy is made");
      const copies = volumes.copiesOf(app, records.targets());
      await restic.version();
      await madeNow(records, copies, closing.signal);
    },
    ...createListing({ records, chosen, repositoryOf }),
    repository: async (target) => repositoryOf(stored(target)),
    failing: () => [
      ...records.targets().flatMap(({ name }) => failingOf(name, stateWhat, records.runs(name))),
      ...beside.failing(),
      ...volumes.failing(),
      ...ledger.failing(),
      ...inspector.failing(),
    ],
    async run(signal) {
      signal.addEventListener("abort", () => closing.abort(), { once: true });
      const looking = twins.run(signal);
      const recovered = still.recover().catch((error: unknown) => log.error("pauses not undone", { error }));
      volumes.reopen(signal);
      const copyVolumes = async () => {
        await recovered;
        while (!signal.aborted) {
          const sooner = waker.round(signal);
          if (records.targets().length === 0) {
            await aborted(sooner);
            continue;
          }
          await volumes.copyDue(signal);
          await beside.copyDue(signal);
          await clock.sleep(limits.stateLookMs, sooner);
        }
      };
      await gate.whenOpen(async () => void (await Promise.all([states.run(signal), copyVolumes()])))(signal);
      await states.alone(async () => undefined);
      await volumes.settled();
      await copying(async () => undefined);
      await looking;
    },
    ...{ takeOver: twins.takeOver, bringImage: beside.bring, repairs },
  };
}
