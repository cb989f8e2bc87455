import type { ManifestKey } from "../../api/manifest.ts";
import { ingressPorts } from "../../core/ingress-ports.ts";
import {
  closedText,
  duePorts,
  type PortProof,
  portStep,
  portsWakeAt,
  provenAlready,
  startProof,
  unproven,
  withPorts,
} from "../../core/port-proof.ts";
import type { DecodedPod } from "../../core/spec/pod.ts";
import type { Context } from "../state/context.ts";
import type { Pod } from "../state/pod.ts";
import { specOf } from "../state/pod-spec.ts";
import { isPodKind } from "../state/target.ts";
import { refusalText } from "../state/knock.ts";
import type { PortRoom } from "../state/port-room.ts";

/** One run of a container. */
interface Runner {
  pod: Pod;
  /** Which start of the container it is about: epoch ms, as the engine tells. */
  run: number;
  proof: PortProof;
  /** Ports that it has to open before it counts. */
  required: readonly number[];
  /** It served before this server looked: until it was asked, that goes on. */
  isInherited: boolean;
  openSince: number | undefined;
  busy: Set<number>;
}

const attemptMs = 1_000;
/** An app that has just begun to start listens on nothing yet: where it does listen is asked later. */
const listenersAfterMs = 1_000;
const idleMs = 60_000;
const minimumMs = 20;

/** `onChange` is called when a pod may have become ready, or unready, by its ports. */
export function createPortRoom(contextOf: () => Context, onChange: () => void): PortRoom {
  const runners = new Map<string, Runner>();
  let wake: () => void = () => undefined;

  function take(pod: Pod): void {
    const context = contextOf();
    const known = runners.get(pod.id);
    if (known !== undefined) known.pod = pod;
    const { startedAt: run, upSince } = pod;
    if (!isReplica(pod) || pod.state !== "running" || run === undefined || upSince === undefined) return;
    const ports = [...portsLedTo(context, pod).keys()];
    const required = requiredOf(pod, ports);
    if (ports.length === 0 && known === undefined) return;
    if (known?.run === run) {
      if (isSameList(ports, [...known.proof.ports.keys()])) return;
      const proof = withPorts(known.proof, ports, context.clock.steady());
      Object.assign(known, { proof, required });
      // What kept it from being ready, or was warned about, may be led to no more.
      context.enqueue(pod.key);
    } else {
      const isInherited = known === undefined && pod.inherited;
      runners.set(pod.id, {
        ...{ pod, run, required, isInherited, busy: new Set(), openSince: undefined },
        proof: isInherited ? inheritedProof(context, { pod, ports, required }) : startProof(ports, upSince),
      });
    }
    onChange();
    wake();
  }

  async function attempt(runner: Runner, port: number): Promise<void> {
    const context = contextOf();
    runner.busy.add(port);
    const said = await refusalOf(context, runner.pod, port);
    const isLate = context.clock.steady() - runner.proof.startedAt >= listenersAfterMs;
    const listeners = said === undefined || !isLate ? undefined : await listenersOf(context, runner.pod);
    runner.busy.delete(port);
    // Restarted or gone meanwhile: the answer is about somebody else.
    if (runners.get(runner.pod.id) !== runner) return;
    const before = JSON.stringify([isProven(runner), sayClosed(runner)]);
    const at = context.clock.steady();
    const isRequired = runner.required.includes(port);
    const text = closedText(port, { said: said ?? "", listeners });
    runner.proof = portStep(runner.proof, { port, isOpen: said === undefined, text, at, isRequired });
    if (said === undefined && isRequired) runner.openSince = at;
    wake();
    if (before === JSON.stringify([isProven(runner), sayClosed(runner)])) return;
    onChange();
    context.enqueue(runner.pod.key);
  }

  function look(now: number): number {
    let next = now + idleMs;
    for (const [id, runner] of runners) {
      if (contextOf().pods.byId(id) === undefined) runners.delete(id);
      if (!runners.has(id) || !isOfThisRun(runner, runner.pod)) continue;
      for (const port of duePorts(runner.proof, now)) if (!runner.busy.has(port)) void attempt(runner, port);
      next = Math.min(next, portsWakeAt(runner.proof, runner.busy) ?? next);
    }
    return next;
  }

  /** What is known of the run that the pod is in. */
  function now(pod: Pod): Runner | undefined {
    const runner = runners.get(pod.id);
    return runner !== undefined && isOfThisRun(runner, pod) ? runner : undefined;
  }

  return {
    watch(pods) {
      for (const pod of pods) take(pod);
    },
    mayServe(pod) {
      const runner = now(pod);
      if (runner === undefined) return isNotTakenUp(pod) || mustProveNothing(contextOf(), pod);
      const found = unproven(runner.proof, runner.required);
      return found === undefined || (runner.isInherited && !found.isAsked);
    },
    isProven(pod) {
      const runner = now(pod);
      return runner === undefined ? mustProveNothing(contextOf(), pod) : isProven(runner);
    },
    openSince: (pod) => now(pod)?.openSince,
    hindrance(pod) {
      const runner = now(pod);
      return runner && hindranceOf(runner);
    },
    closed(key) {
      const closed = new Map<number, string>();
      for (const pod of contextOf().pods.of(key)) {
        const runner = pod.state === "running" ? now(pod) : undefined;
        for (const port of runner?.proof.ports.keys() ?? []) {
          if (runner === undefined || runner.required.includes(port) || closed.has(port)) continue;
          const found = unproven(runner.proof, [port]);
          if (found?.isAsked) closed.set(port, `port ${port} of ${pod.name} is closed: ${found.text}`);
        }
      }
      return [...closed].map(([port, text]) => {
        return { port, warning: `${text}; visitors get 503, and the next release fails` };
      });
    },
    async run(signal) {
      const { clock, store } = contextOf();
      const leave = store.subscribe((keys) => {
        const scopes = new Set(keys.filter(({ kind }) => kind === "ingress").map(({ scope }) => scope));
        if (scopes.size === 0) return;
        for (const pod of contextOf().pods.all()) if (scopes.has(pod.key.scope)) take(pod);
      });
      while (!signal.aborted) {
        const next = look(clock.steady());
        const sooner = new AbortController();
        wake = () => sooner.abort();
        await clock.sleep(Math.max(minimumMs, next - clock.steady()), AbortSignal.any([signal, sooner.signal]));
      }
      leave();
    },
  };

  /** Right after a start of the server: it was not looked at yet, and it served until now. */
  function isNotTakenUp(pod: Pod): boolean {
    return pod.inherited && !runners.has(pod.id);
  }
}

function isSameList(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((port, index) => port === other[index]);
}

function isReplica({ key, role }: Pod): boolean {
  return isPodKind(key.kind) && role === undefined;
}

function isOfThisRun({ run }: Runner, { startedAt, upSince, state }: Pod): boolean {
  return state === "running" && upSince !== undefined && run === startedAt;
}

function isProven({ proof, required }: Runner): boolean {
  return unproven(proof, required) === undefined;
}

function hindranceOf({ proof, required }: Runner): string | undefined {
  const found = unproven(proof, required);
  return found?.isAsked ? `port ${found.port} is closed: ${found.text}` : undefined;
}

/** Everything that is said of its closed ports. */
function sayClosed({ proof }: Runner): (string | undefined)[] {
  return [...proof.ports.values()].map(({ text }) => text);
}

/** Ports that ingresses lead to, of those that they led to when the container was made. */
function requiredOf({ ingressPorts: atBirth = [] }: Pod, ports: readonly number[]): number[] {
  return ports.filter((port) => atBirth.includes(port));
}

function mustProveNothing(context: Context, pod: Pod): boolean {
  if (!isReplica(pod) || (pod.ingressPorts ?? []).length === 0) return true;
  return requiredOf(pod, [...portsLedTo(context, pod).keys()]).length === 0;
}

/** A version that was good has proved its ports; what a server left in the middle of a rollout has not. */
function inheritedProof(
  context: Context,
  { pod, ports, required }: { pod: Pod; ports: readonly number[]; required: readonly number[] },
): PortProof {
  const now = context.clock.steady();
  if (!wasGood(context, pod)) return startProof(ports, now);
  return withPorts(provenAlready(required, now), ports, now);
}

function wasGood({ notes, store }: Context, { key, hash, generation }: Pod): boolean {
  const { goodGeneration } = notes.look(key)?.memory ?? {};
  if (goodGeneration === undefined || generation > goodGeneration) return false;
  return store.releases.list(key).some((release) => release.good && release.hash === hash);
}

function portsLedTo(context: Context, pod: Pod): Map<number, string[]> {
  const spec = specOf(context, pod);
  return spec === undefined ? new Map() : portsOf(context, { key: pod.key, ordinal: pod.ordinal, spec });
}

/** Ports that the ingresses which are stored now lead to, of a replica that is made from `spec`. */
export function portsOf(
  { store }: Pick<Context, "store">,
  { key, ordinal, spec }: { key: ManifestKey; ordinal: number | undefined; spec: DecodedPod },
): Map<number, string[]> {
  const { kind, scope, name } = key;
  const ingresses = store.manifests.list({ kind: "ingress", scope });
  if (ingresses.length === 0 || !isPodKind(kind)) return new Map();
  const kinds = (["deployment", "statefulset"] as const).filter(
    (one) => store.manifests.get({ kind: one, scope, name }) !== undefined,
  );
  return ingressPorts(ingresses, { kind, name, ordinal, kinds, spec });
}

/** Why the port takes no connection; undefined when it does. */
async function refusalOf({ knock }: Context, { address }: Pod, port: number): Promise<string | undefined> {
  if (address === undefined) return "the container has no address on the platform network";
  const limit = AbortSignal.timeout(attemptMs);
  try {
    await knock({ host: address, port }, limit);
    return undefined;
  } catch (error) {
    return limit.aborted ? `no answer within ${attemptMs} ms` : refusalText(error);
  }
}

async function listenersOf({ engine }: Context, pod: Pod) {
  const seen = await engine.connections(pod).catch(() => undefined);
  return seen?.listeners;
}
