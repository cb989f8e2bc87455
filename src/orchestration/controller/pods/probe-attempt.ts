import { Failure } from "../../../base/wire/failure.ts";
import type { ProbeAction, ProbeConfig } from "../../core/spec/probes.ts";
import type { PodRef } from "../../engine/pod.ts";
import type { Context } from "../state/context.ts";
import { refusalText } from "../state/knock.ts";

interface Attempt {
  ok: boolean;
  /** `200 OK`, `connection refused`, `exit code 1: …` */
  text: string;
}

interface ProbedContainer {
  pod: PodRef;
  /** Where its ports are reached from here; undefined without a network of its own. */
  address: string | undefined;
}

const outputCharsMax = 200;
/** Characters of the body of an answer that failed. */
const bodyCharsMax = 2_000;

/**
 * One attempt of a probe, never longer than its time-out. Whatever goes wrong is a failed attempt, with one exception:
 * undefined where the engine is away or hangs, and could not carry it out, and where the container was paused for a copy of
 * its volumes. That says nothing about the container, which may serve all the while.
 */
export async function attemptProbe(
  context: Context,
  container: ProbedContainer,
  config: ProbeConfig,
): Promise<Attempt | undefined> {
  const limit = AbortSignal.timeout(config.timeoutMs);
  const isStill = () => context.stills?.has(container.pod.id) === true;
  const wasStill = isStill();
  try {
    return await bounded(act(context, container, config.action, limit), limit);
  } catch (error) {
    if (wasStill || isStill() || (await isOutage(context, { container, config, error }))) return undefined;
    if (limit.aborted) return { ok: false, text: `no answer within ${config.timeoutMs} ms` };
    return { ok: false, text: reasonOf(error) };
  }
}

/** Commands run through the engine, and so does the first look for an address; all else reaches the container itself. */
async function isOutage(
  { link }: Context,
  { container, config, error }: { container: ProbedContainer; config: ProbeConfig; error: unknown },
): Promise<boolean> {
  if (config.action.type !== "exec") return container.address === undefined && !link.up();
  if (error instanceof Failure) return error.reason === "EngineUnavailable" || !link.up();
  return !(await link.answers());
}

function act(context: Context, container: ProbedContainer, action: ProbeAction, limit: AbortSignal): Promise<Attempt> {
  switch (action.type) {
    case "http":
      return http(context, container, action, limit);
    case "tcp":
      return tcp(context, container, { port: action.port, limit });
    case "exec":
      return exec(context, container, action.command, limit);
  }
}

function hostOf({ address }: ProbedContainer): string {
  if (address === undefined || address === "") throw new Error("the container has no address");
  return address.includes(":") ? `[${address}]` : address;
}

async function http(
  context: Context,
  container: ProbedContainer,
  action: Extract<ProbeAction, { type: "http" }>,
  limit: AbortSignal,
): Promise<Attempt> {
  const url = `${action.scheme}://${hostOf(container)}:${action.port}${action.path}`;
  const response = await answerOf(context, url, { signal: limit, headers: { ...action.headers, Connection: "close" } });
  const ok = response.status >= 200 && response.status < 400;
  const line = ok ? "" : await firstLine(response.body, response.statusText);
  await response.body?.cancel().catch(() => undefined);
  const text = `${response.status} ${response.statusText}`.trim() + elsewhereText(response);
  return { ok, text: line === "" ? text : `${text}: ${line}` };
}

/** Where the redirect that is the answer leads: the reader learns that no page of the app was looked at. */
function elsewhereText({ status, headers }: Response): string {
  const location = status >= 300 && status < 400 ? headers.get("location") : null;
  return location === null ? "" : `, a redirect to ${location.slice(0, outputCharsMax)} that is not followed`;
}

const redirectsMax = 5;

/**
 * The answer of the container itself. It may send the probe on to another page of its own, by its address or by the name
 * that the probe asked for; an address elsewhere is one that an app chose for the server to visit, so that redirect is
 * the answer.
 */
async function answerOf({ fetch }: Context, first: string, options: Parameters<Context["fetch"]>[1]) {
  const home = new URL(first);
  const asked = Object.entries(options.headers ?? {}).find(([name]) => name.toLowerCase() === "host")?.[1];
  let url = first;
  for (let redirects = 0; ; redirects++) {
    const response = await fetch(url, options);
    const location = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
    const next = location !== null && URL.canParse(location, url) ? new URL(location, url) : undefined;
    if (next !== undefined && next.protocol === home.protocol && next.host === asked?.toLowerCase()) {
      next.host = home.host;
      next.port = home.port;
    }
    if (next?.origin !== home.origin || redirects === redirectsMax) return response;
    await response.body?.cancel().catch(() => undefined);
    url = next.href;
  }
}

/** The first line of the body of a refusal: apps say there what they lack. A page of HTML says its words, where it has any of its own. */
async function firstLine(body: ReadableStream<Uint8Array> | null, status: string): Promise<string> {
  const text = (await firstPart(body)).replaceAll(/<[^>]*>?/g, "\n").replaceAll(status === "" ? "\n" : status, "\n");
  const line = text.split(/[\r\n]/).find((one) => /\w/.test(one.replace(/^\s*\d{3}\s*$/, "")));
  return (line ?? "").trim().slice(0, outputCharsMax);
}

/** What cannot be read is left out. */
async function firstPart(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    while (reader !== undefined && text.length < bodyCharsMax) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // The status is what counts.
  } finally {
    reader?.releaseLock();
  }
  return text;
}

async function tcp(
  { knock }: Context,
  container: ProbedContainer,
  { port, limit }: { port: number; limit: AbortSignal },
): Promise<Attempt> {
  const host = hostOf(container).replace(/^\[|\]$/g, "");
  await knock({ host, port }, limit);
  return { ok: true, text: "connected" };
}

async function exec(
  context: Context,
  { pod }: ProbedContainer,
  command: string[],
  limit: AbortSignal,
): Promise<Attempt> {
  const { exitCode, output } = await context.engine.check(pod, command, limit);
  return { ok: exitCode === 0, text: output === "" ? `exit code ${exitCode}` : `exit code ${exitCode}: ${output}` };
}

/** Some connections do not heed an abort: the attempt ends all the same. */
function bounded(attempt: Promise<Attempt>, limit: AbortSignal): Promise<Attempt> {
  attempt.catch(() => undefined);
  return new Promise((resolve, reject) => {
    limit.addEventListener("abort", () => reject(limit.reason), { once: true });
    attempt.then(resolve, reject);
  });
}

function reasonOf(error: unknown): string {
  return error instanceof Failure ? error.message : refusalText(error);
}
