import { Agent } from "node:http";
import Dockerode from "dockerode";
import { Failure } from "../../../base/wire/failure.ts";
import { type Attempt, engineFailure, timedOut, unreachable } from "./errors.ts";

/** The connection to one engine: the API version agreed on, a deadline on every call, errors as `Failure`s. */
export interface DockerClient {
  /**
   * Runs `ask` under a deadline (`deadlineMs`, else the engine's default). The signal aborts when the deadline has
   * passed or the engine was closed; pass it on, so that the connection ends too.
   */
  call<T>(attempt: Attempt, ask: Ask<T>, deadlineMs?: number): Promise<T>;
  /** The version spoken, such as `1.41`. */
  apiVersion(): Promise<string>;
  /** See `Machine.suspend`. */
  suspend(why: () => Failure): void;
  resume(): void;
  /** Aborts when the engine is closed. */
  readonly closed: AbortSignal;
  /** Aborts when the engine is closed or suspended: for a stream that begins now. */
  readonly held: AbortSignal;
  /** What broke a stream, as a `Failure`: the reason of the suspension where there is one, else as `engineFailure`. */
  failure(error: unknown, attempt: Attempt): unknown;
  /** On this machine, as far as the address shows. */
  readonly local: boolean;
  /** See `Machine.ping`. Without a version, which would have to be agreed on first. */
  ping(signal: AbortSignal): Promise<void>;
  close(): void;
}

type Ask<T> = (docker: Dockerode, signal: AbortSignal) => Promise<T>;

/** 1.41 is Docker 20.10, the oldest still shipped by a supported distribution; the newest is the last one we know. */
const oldestApi = "1.41";
const newestApi = "1.51";

type EngineAddress = { socketPath: string } | { host: string; port: number };

export function createDockerClient(host: string, callMs: number): DockerClient {
  const address = engineAddress(host);
  const closing = new AbortController();
  let agreed: Promise<{ docker: Dockerode; version: string }> | undefined;
  let suspended: (() => Failure) | undefined;
  /** Aborts at the next suspension, which replaces it, and when the engine is closed. */
  let hold = new AbortController();

  const agree = () => {
    if (agreed !== undefined) return agreed;
    const attempt = negotiate(address, closing.signal, callMs);
    agreed = attempt;
    attempt.catch(() => {
      if (agreed === attempt) agreed = undefined;
    });
    return attempt;
  };

  const call = async <T>(attempt: Attempt, ask: Ask<T>, deadlineMs = callMs): Promise<T> => {
    if (closing.signal.aborted) throw unreachable("the connection was closed");
    if (suspended !== undefined) throw suspended();
    const deadline = createDeadline(attempt, deadlineMs, hold.signal);
    try {
      const answer = agree().then(({ docker }) => ask(docker, deadline.signal));
      return await Promise.race([answer, deadline.passed]);
    } catch (error) {
      const failure = failureOf(error, attempt);
      // Whatever comes back after an outage may be another engine.
      if (failure instanceof Failure && failure.code === "unavailable") agreed = undefined;
      deadline.abort();
      throw failure;
    } finally {
      deadline.clear();
    }
  };

  const failureOf = (error: unknown, attempt: Attempt) => suspended?.() ?? engineFailure(error, attempt);

  return {
    call,
    failure: failureOf,
    suspend(why) {
      suspended = why;
      // The engine that comes back may be another one, and what it was asked is not answered any more.
      agreed = undefined;
      hold.abort();
      hold = new AbortController();
      if (closing.signal.aborted) hold.abort();
    },
    resume() {
      suspended = undefined;
    },
    apiVersion: () => call({ verb: "read", subject: "the engine's version" }, async () => (await agree()).version),
    closed: closing.signal,
    get held() {
      return hold.signal;
    },
    local: "socketPath" in address,
    async ping(signal) {
      // The published types leave out the options that dockerode takes here.
      const docker = connect(address);
      const ask: (options: object) => Promise<unknown> = docker.ping.bind(docker);
      try {
        await ask({ abortSignal: AbortSignal.any([closing.signal, signal]) });
      } catch (error) {
        throw engineFailure(error, { verb: "ping", subject: "the engine" });
      }
    },
    close() {
      closing.abort();
      hold.abort();
    },
  };
}

/** `unix:///path` or `tcp://host:port`. */
export function engineAddress(text: string): EngineAddress {
  const path = /^unix:\/\/(\/.+)$/.exec(text)?.[1];
  if (path !== undefined) return { socketPath: path };
  const [, host, port] = /^tcp:\/\/([^/:]+|\[[0-9a-fA-F:]+\]):(\d+)\/?$/.exec(text) ?? [];
  if (host !== undefined) return { host: host.replaceAll(/[[\]]/g, ""), port: Number(port) };
  throw new Failure("invalid", `docker host "${text}" is not understood; write unix:///path or tcp://host:port`);
}

/** The newest version that both sides speak. `engine` is what the engine reports of itself. */
export function pickApiVersion(engine: { newest: string; oldest: string }): string {
  const [ours, theirs] = [versionNumber(newestApi), versionNumber(engine.newest)];
  if (theirs < versionNumber(oldestApi)) {
    const message = `docker speaks API ${engine.newest}, at least ${oldestApi} is needed; upgrade Docker to 20.10 or newer`;
    throw new Failure("unavailable", message, { reason: "EngineUnavailable" });
  }
  if (theirs <= ours) return engine.newest;
  // An engine that has dropped everything we know: its oldest is the nearest to what we know.
  return versionNumber(engine.oldest) > ours ? engine.oldest : newestApi;
}

async function negotiate(address: EngineAddress, closed: AbortSignal, callMs: number) {
  const signal = AbortSignal.any([closed, AbortSignal.timeout(callMs)]);
  const docker = connect(address);
  // The published types leave out the options that dockerode takes here.
  const readVersion: (options: object) => Promise<Dockerode.DockerVersion> = docker.version.bind(docker);
  const facts = await readVersion({ abortSignal: signal });
  const version = pickApiVersion({ newest: facts.ApiVersion, oldest: facts.MinAPIVersion });
  return { docker: connect(address, version), version };
}

/** For engines over TCP: node:http's own agent takes the proxy of the environment where `NODE_USE_ENV_PROXY` is set. */
const agent = new Agent({ keepAlive: true });

function connect(address: EngineAddress, version?: string): Dockerode {
  // dockerode reads DOCKER_HOST and its relatives by itself; what is not named here would come from there.
  const ours = { host: undefined, port: undefined, timeout: undefined, protocol: "http" as const, ...address };
  const reached = "host" in address ? { ...ours, agent } : ours;
  return new Dockerode(version === undefined ? reached : { ...reached, version: `v${version}` });
}

/** Whether version `spoken` is `wanted` or newer: `1.9` is older than `1.41`. */
export function speaks(spoken: string, wanted: string): boolean {
  return versionNumber(spoken) >= versionNumber(wanted);
}

function versionNumber(text: string): number {
  const [major = 0, minor = 0] = text.split(".").map(Number);
  return major * 1000 + minor;
}

/** `end`: what ends the call before its time. */
function createDeadline(attempt: Attempt, afterMs: number, end: AbortSignal) {
  const controller = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(timedOut(attempt, afterMs)), afterMs);
  const close = () => reject(unreachable("the connection was closed"));
  end.addEventListener("abort", close);
  return {
    passed: promise,
    signal: controller.signal,
    abort: () => controller.abort(),
    clear: () => {
      clearTimeout(timer);
      end.removeEventListener("abort", close);
    },
  };
}
