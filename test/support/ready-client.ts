import type { PodDetail, PodRecord } from "../../src/orchestration/api/pods.ts";
import type { Rig } from "./rig.ts";

/** A client that sends requests to whichever pods are ready, as an ingress would. */
export interface ReadyClient {
  /** Requests that were answered well. */
  readonly answered: number;
  /** What became of the others, as text; at most the first few hundred. */
  readonly failed: string[];
  /** Names of the pods that are used now. */
  inUse(): string[];
  /** Stops sending, and waits for what is under way. */
  stop(): Promise<void>;
}

export interface ReadyClientOptions {
  scope: string;
  name: string;
  port: number;
  perSecond: number;
}

const pollMs = 100;
/** Less than pods that leave are kept for. */
const noticeMs = 1_000;
/** As long as a drain waits by default: on a busy machine the kernel tries a connection again after 1, 3, 7 and 15 s. */
const answerMs = 30_000;
/** Beyond these the client waits: a busy machine must not turn into a pile of requests. */
const underWayMax = 200;
const tickMs = 20;

interface Backend {
  pod: string;
  address: string;
}

/**
 * Asks `GET /pods` and `/pods/{name}/ready` every 100 ms, stops using a pod as soon as it is not ready, and sends
 * requests to the others in turn, each on a connection of its own. No request is sent twice.
 */
export async function readyClient(berth: Rig, options: ReadyClientOptions): Promise<ReadyClient> {
  const over = new AbortController();
  const addresses = new Map<string, string>();
  const failed: string[] = [];
  /** What the server said of each pod when it was last asked. */
  const verdicts = new Map<string, string>();
  const underWay = new Set<Promise<void>>();
  let backends: Backend[] = [];
  let answered = 0;
  let turn = 0;

  /** When the last look that has ended began: what the server said is that old. */
  let saidAt = 0;

  async function look(): Promise<void> {
    const began = performance.now();
    try {
      await lookOnce();
    } finally {
      saidAt = began;
    }
  }

  async function lookOnce(): Promise<void> {
    const { status, body } = await berth.call("GET", `/pods?scope=${options.scope}&name=${options.name}`);
    // A server that has not reached the engine yet says so; that is no news about the pods.
    if (status !== 200) throw new Error(`GET /pods: status ${status}`);
    const { pods } = body.data as unknown as { pods: PodRecord[] };
    verdicts.clear();
    const found = await Promise.all(pods.map(backendOf));
    backends = found.filter((backend) => backend !== undefined);
  }

  async function backendOf(pod: PodRecord): Promise<Backend | undefined> {
    const { status, body } = await berth.call("GET", `/pods/${pod.name}/ready`);
    verdicts.set(pod.name, `${pod.name}: ${status} ${JSON.stringify(body)}`);
    if (status !== 200) return undefined;
    const run = `${pod.name} ${pod.started_at}`;
    const address = addresses.get(run) ?? (await addressOf(berth, pod.name));
    if (address === undefined || address === "") return undefined;
    addresses.set(run, address);
    return { pod: pod.name, address };
  }

  async function request({ pod, address }: Backend): Promise<void> {
    const began = performance.now();
    try {
      const response = await fetch(`http://${address}:${options.port}/`, {
        headers: { Connection: "close" },
        signal: AbortSignal.timeout(answerMs),
      });
      await response.text();
      if (response.status !== 200) throw new Error(`status ${response.status}`);
      answered += 1;
    } catch (error) {
      const after = Math.round(performance.now() - began);
      if (failed.length < 500) failed.push(`${new Date().toISOString()} ${pod} after ${after} ms: ${error}`);
    }
  }

  async function poll(): Promise<void> {
    while (!over.signal.aborted) {
      // While the server is away, what was ready last is what there is.
      await look().catch(() => undefined);
      await Bun.sleep(pollMs);
    }
  }

  async function send(): Promise<void> {
    const begun = performance.now();
    for (let sent = 0; !over.signal.aborted; await Bun.sleep(tickMs)) {
      const now = performance.now();
      const due = Math.floor(((now - begun) / 1_000) * options.perSecond);
      // Pods that leave are kept for as long as a follower may need to notice. A client that is kept waiting for longer,
      // on a busy machine, is not promised anything: it holds its requests back.
      const isBehind = now - saidAt > noticeMs;
      for (; !isBehind && sent < due && underWay.size < underWayMax; sent++) {
        const backend = backends[turn++ % Math.max(1, backends.length)];
        if (backend === undefined)
          failed.push(`${new Date().toISOString()} no pod is ready: ${[...verdicts.values()].join("; ")}`);
        else {
          const task = request(backend).finally(() => underWay.delete(task));
          underWay.add(task);
        }
      }
      // What was not sent in time is not made up for in a burst.
      sent = Math.max(sent, due - options.perSecond / 10);
    }
  }

  await look();
  const working = [poll(), send()];
  return {
    get answered() {
      return answered;
    },
    failed,
    inUse: () => backends.map(({ pod }) => pod),
    async stop() {
      over.abort();
      await Promise.all([...working, ...underWay]);
    },
  };
}

async function addressOf(berth: Rig, pod: string): Promise<string | undefined> {
  const { body } = await berth.call("GET", `/pods/${pod}`);
  const detail = (body.data as { pod: PodDetail } | undefined)?.pod;
  return detail?.networks[`${berth.prefix}0`]?.ip_address;
}
