import { Readable } from "node:stream";
import { Failure } from "../../../base/wire/failure.ts";
import type { ImageBuild } from "../machine.ts";
import { type BuildSession, openBuildSession } from "./buildkit/session.ts";
import { createTraceText } from "./buildkit/trace.ts";
import type { DockerClient } from "./client.ts";
import { timedOut } from "./errors.ts";
import { createIdleWatch } from "./idle-watch.ts";
import { engineInfo } from "./info.ts";
import { jsonLines } from "./json-lines.ts";

/**
 * Builds by the engine's own builder and reads its output to the end: only there does the engine tell of a step that
 * failed. The connection is the life of the build: when it ends, the engine ends the build. BuildKit is the second
 * builder of every engine since 18.09; it alone knows secrets, and takes no limits of memory and weight.
 */
export async function followBuild(engine: DockerClient, request: ImageBuild): Promise<void> {
  const attempt = { verb: "build", subject: `image "${request.ref}"` };
  const { idleMs, signal } = request;
  const watch = createIdleWatch(idleMs, AbortSignal.any([engine.held, signal]));
  const context = Readable.from(request.context);
  const traceText = createTraceText();
  let session: BuildSession | undefined;
  try {
    // Also without secrets: a step that wants one is then refused by its name.
    if (request.buildkit) session = await openBuildSession(engine, request.secrets, { attempt, signal: watch.signal });
    const options: object = { ...optionsOf(request, session?.id), abortSignal: watch.signal };
    const answer = await engine.call(attempt, (docker) => docker.buildImage(context, options), idleMs);
    for await (const row of jsonLines(answer as AsyncIterable<Uint8Array | string>)) {
      watch.progress();
      const { output, error } = readRow(row, traceText.read);
      if (output !== undefined) request.onOutput(output);
      if (error !== undefined) {
        const message = isOfText(error) ? `${error}${await aboutTexts(engine)}` : stepError(error);
        throw new Failure("conflict", message, { reason: "BuildFailed" });
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    throw watch.idle() ? timedOut(attempt, idleMs) : engine.failure(error, attempt);
  } finally {
    request.onOutput(traceText.rest());
    watch.end();
    session?.close();
    context.destroy();
  }
}

/** Errors of Docker that name no way out. BuildKit says no more than `secret ID not found: not found`. */
function stepError(text: string): string {
  const registry = /"https?:\/\/([^/"]+)\/v2\/[^"]*": (?:dial |proxyconnect |.*(?:timeout|x509|TLS handshake))/.exec(
    text,
  )?.[1];
  if (registry !== undefined)
    return `${text}; Docker does not reach the registry ${registry}: check the network of the server, or load the base image there: docker load`;
  const id = /^secret (\S+) not found/.exec(text)?.[1];
  if (id === undefined) return text;
  return `a step mounts the secret ${id}: write build.secrets: [${id}] in the manifest, or give --secret id=${id},env=NAME`;
}

/** The first line of a text (`RUN <<END`), read as an instruction. */
function isOfText(error: string): boolean {
  return /dockerfile parse error .{0,100}unknown instruction/i.test(error);
}

/** BuildKit of before Docker 23 knows no texts in a Dockerfile. */
async function aboutTexts(engine: DockerClient): Promise<string> {
  const version = await engineInfo(engine).then(
    (info) => info.version,
    () => "",
  );
  const major = Number.parseInt(version, 10);
  if (Number.isNaN(major) || major >= 23) return "";
  return `. Docker ${version} does not know texts in a Dockerfile (RUN <<END), Docker 23 does. Join the lines with "&& \\", copy a file in place of the text, or write "# syntax=docker/dockerfile:1" as the first line: Docker then fetches a newer reader of Dockerfiles from Docker Hub`;
}

const cpuPeriodUs = 100_000;

function optionsOf(request: ImageBuild, session: string | undefined): object {
  const { ref, dockerfile, target, args, labels, memoryBytes, nanoCpus, cpuShares, buildkit } = request;
  return {
    t: ref,
    dockerfile,
    ...(target === undefined ? {} : { target }),
    buildargs: JSON.stringify(args),
    labels: JSON.stringify(labels),
    // As text, dockerode would open a session of its own, which does not work in the compiled executable.
    ...(buildkit ? { version: 2 } : { rm: true, forcerm: true, cpushares: cpuShares }),
    ...(nanoCpus === undefined || buildkit
      ? {}
      : { cpuperiod: cpuPeriodUs, cpuquota: Math.round((nanoCpus / 1e9) * cpuPeriodUs) }),
    ...(session === undefined ? {} : { session }),
    // Without swap beyond it: a build must not push what runs out of memory.
    ...(memoryBytes === undefined || buildkit ? {} : { memory: memoryBytes, memswap: memoryBytes }),
  };
}

function readRow(row: unknown, traceText: (base64: string) => string): { output?: string | undefined; error?: string } {
  if (typeof row !== "object" || row === null) return {};
  const { stream, status, id, error, aux } = row as Record<string, unknown>;
  if (typeof error === "string") return { error: error.trim() };
  if (id === "moby.buildkit.trace" && typeof aux === "string") return { output: traceText(aux) };
  if (typeof stream === "string") return { output: stream };
  // Progress bars of pulls have no id-less line worth keeping.
  return typeof status === "string" && typeof id !== "string" ? { output: `${status}\n` } : {};
}
