import { naming } from "../../src/orchestration/core/naming.ts";
import { createMemoryRuntime } from "../support/memory-runtime.ts";
import type { ExecHandler, ExecProgram } from "../support/memory-runtime/execs.ts";
import { type RuntimeSubject, runtimeContract } from "./runtime.ts";
import { insideContract, scripts } from "./runtime-inside.ts";

async function subject(): Promise<RuntimeSubject> {
  const names = naming("t");
  const installationId = "test";
  const image = "berth-fixture:1";
  const runtime = createMemoryRuntime({ names, installationId });
  runtime.addImage(image);
  runtime.onExec(programs);
  return {
    runtime,
    names,
    installationId,
    image,
    unique: (text) => `t-${text}`,
    puppet: ["puppet"],
    talk: async (nameOrId, text) => runtime.writeLog(nameOrId, text),
    leave: async (nameOrId, exitCode) => runtime.finish(nameOrId, exitCode),
    cleanUp: async () => {
      for (const pod of await runtime.observe()) await runtime.remove(pod);
      for (const { name } of await runtime.listVolumes({})) await runtime.removeVolume(name);
      for (const text of ["n1", "n2"]) runtime.removeNetworkByHand(`t-${text}`);
    },
  };
}

/** The commands of the suite, as a container would run them. */
const programs: ExecHandler = ({ spec }) => {
  const { command, env, workdir, size } = spec;
  const [program = "", ...args] = command;
  if (program === "echo") return says(`${args.join(" ")}\n`);
  if (program === "cat") return echoes;
  if (program === "sleep") return sleeps;
  if (program !== "sh") return undefined;
  switch (args[1]) {
    case scripts.both:
      return async ({ stdout, stderr }) => {
        await stdout("out\n");
        await stderr("err\n");
        return 3;
      };
    case scripts.env:
      return says(env.find((row) => row.startsWith("GREETING="))?.slice("GREETING=".length) ?? "");
    case scripts.folder:
      return says(`${workdir ?? "/"}\n`);
    case scripts.size:
      return async (io) => {
        await io.input[Symbol.asyncIterator]().next();
        return says(`${io.size()?.rows ?? size?.rows} ${io.size()?.cols ?? size?.cols}\n`)(io);
      };
    case scripts.flood:
      return async ({ stdout }) => {
        for (let sent = 0; sent < scripts.floodBytes; sent += 65_536) await stdout(new Uint8Array(65_536));
        return says("THE END")({ stdout });
      };
  }
  return undefined;
};

const says =
  (text: string) =>
  async ({ stdout }: Pick<Parameters<ExecProgram>[0], "stdout">) => {
    await stdout(text);
    return 0;
  };

const echoes: ExecProgram = async ({ input, stdout }) => {
  for await (const bytes of input) await stdout(bytes);
  return 0;
};

const sleeps: ExecProgram = ({ killed }) =>
  new Promise((resolve) => killed.addEventListener("abort", () => resolve(0), { once: true }));

runtimeContract("memory", subject);
insideContract("memory", subject);
