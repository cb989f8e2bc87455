import { canonicalJson, sha256Hex } from "../../base/pure/digest.ts";
import { Failure } from "../../base/wire/failure.ts";
import { decodePassed } from "../core/spec/passed.ts";
import type { ContainerSpec } from "../core/workload.ts";
import type { Engine } from "./engine.ts";
import type { Helper, HelperProgram, HelperRun } from "./helper.ts";
import type { Owner } from "./ownership.ts";
import type { InspectedPod } from "./pod.ts";
import type { ExecSession } from "./session.ts";

const outputLines = 50;

export function createHelper(engine: Engine, owner: Owner, program: HelperProgram): Helper {
  const { names, installationId } = owner;
  const name = `${names.prefix}-${program.role}`;
  const pod = engine.named(name);

  /** Undefined where there is none. Another program's container of that name is never touched. */
  async function own(of = pod): Promise<InspectedPod | undefined> {
    const found = await engine.inspect(of);
    if (found === undefined || found.labels[names.label.installation] === installationId) return found;
    const message = `the container name "${found.name}" is in use; remove that container, or rename it`;
    throw new Failure("conflict", message, { reason: "NameTaken" });
  }

  /** The spec with the image as it is now: a tag that has moved makes another container. */
  async function specOf(as: Pick<ContainerSpec, "name" | "attach">, args: readonly string[]): Promise<ContainerSpec> {
    const image = await engine.inspectImage(program.image);
    if (image === undefined) {
      throw new Failure("conflict", `the image ${program.image} is not on this machine`, { reason: "ImageMissing" });
    }
    const spec = helperSpec(program, { ...as, command: [...args] });
    const digest = sha256Hex(canonicalJson({ spec, image: image.id }));
    return { ...spec, labels: { [names.label.role]: program.role, [names.label.manifestHash]: digest } };
  }

  async function aside(args: readonly string[]): Promise<HelperRun> {
    const attach = { tty: false, interactive: false };
    const spec = await specOf({ name: `${name}-once`, attach }, args);
    // One that a killed server left behind.
    const left = await own(engine.named(spec.name));
    if (left !== undefined) await engine.remove(left);
    const made = await engine.create(spec);
    try {
      return await finished(await engine.startAttached(made, { ...attach, graceMs: 0 }), program.limitMs);
    } finally {
      await engine.remove(made);
    }
  }

  return {
    async once(args) {
      const known = await own();
      if (known?.state !== "running") return aside(args);
      const command = [program.entrypoint, ...args];
      return finished(await engine.exec(known, { command, env: [], tty: false, interactive: false }), program.limitMs);
    },
    async start(args) {
      const spec = await specOf({ name }, args);
      const known = await own();
      if (known?.state === "running") await engine.stop(known, { graceMs: 0 });
      if (known !== undefined && known.labels[names.label.manifestHash] === spec.labels[names.label.manifestHash]) {
        const isStarted = await engine.start(known).then(() => true, unlessAnew);
        if (isStarted) return known;
      }
      if (known !== undefined) await engine.remove(known);
      const made = await engine.create(spec);
      await engine.start(made);
      return made;
    },
    ended: async (of, signal) => void (await engine.wait(of, signal)),
    async stop() {
      const known = await own();
      if (known?.state === "running") await engine.stop(known, { graceMs: 0 });
    },
    async output() {
      const options = { follow: false, tail: outputLines, since: undefined, timestamps: false };
      return textOf(engine.logs(pod, options, AbortSignal.timeout(program.limitMs)));
    },
  };
}

function unlessAnew(error: unknown): false {
  if (error instanceof Failure && error.anew) return false;
  throw error;
}

function helperSpec(
  { image, entrypoint, user, folders, capabilities, filesMax }: HelperProgram,
  as: Pick<ContainerSpec, "name" | "attach" | "command">,
): ContainerSpec {
  return {
    ...decodePassed({}),
    ...as,
    image,
    labels: {},
    env: {},
    ports: [],
    mounts: folders.map(({ path, readOnly }) => ({ type: "bind", source: path, target: path, readOnly })),
    networks: [],
    networkMode: "host",
    restart: { name: "no", maximumRetryCount: 0 },
    capAdd: [...capabilities],
    ulimits: [{ name: "nofile", soft: filesMax, hard: filesMax }],
    log: { maxSize: "8m", maxFiles: 2 },
    options: {
      entrypoint: [entrypoint],
      user,
      // The server sends it signals, and knows it by its process id.
      pidMode: "host",
      readonlyRootfs: true,
      capDrop: ["ALL"],
      // With SELinux, a container may not use folders of the machine otherwise.
      securityOpt: ["no-new-privileges:true", "label=disable"],
    },
  };
}

async function finished(session: ExecSession, limitMs: number): Promise<HelperRun> {
  const parts: Record<"stdout" | "stderr", Uint8Array[]> = { stdout: [], stderr: [] };
  const limit = setTimeout(() => void session.kill(), limitMs);
  try {
    for await (const { stream, bytes } of session.output) parts[stream].push(bytes);
    const exitCode = await session.exitCode();
    const text = (list: Uint8Array[]) => Buffer.concat(list).toString("utf8");
    return { exitCode, stdout: text(parts.stdout), stderr: text(parts.stderr) };
  } finally {
    clearTimeout(limit);
  }
}

async function textOf(output: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of output) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}
