import { setDefaultTimeout } from "bun:test";
import { createDockerEngine } from "../../src/orchestration/engine/docker/docker.ts";
import { type RuntimeSubject, runtimeContract } from "../contract/runtime.ts";
import { insideContract, outputOf } from "../contract/runtime-inside.ts";
import { fixtureImage, requireDocker, scratch } from "../support/docker.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

setDefaultTimeout(30_000);

async function subject(): Promise<RuntimeSubject> {
  const { names, installationId, unique, cleanUp } = scratch();
  const runtime = createDockerEngine({ host: requireDocker(), installationId, names });
  const sh = async (nameOrId: string, script: string, argument: string) => {
    const command = ["sh", "-c", script, "sh", argument];
    const session = await runtime.exec(podRef(nameOrId), { command, env: [], tty: false, interactive: false });
    await outputOf(session);
    if ((await session.exitCode()) !== 0) throw new Error(`the puppet "${nameOrId}" does not obey`);
  };
  return {
    runtime,
    names,
    installationId,
    image: fixtureImage,
    unique,
    cleanUp,
    puppet: ["sh", "-c", "while [ ! -f /leave ]; do sleep 0.05; done; exit $(cat /leave)"],
    talk: (nameOrId, text) => sh(nameOrId, 'printf %s "$1" >/proc/1/fd/1', text),
    leave: (nameOrId, exitCode) => sh(nameOrId, 'echo "$1" >/leaving && mv /leaving /leave', String(exitCode)),
  };
}

runtimeContract("docker", subject);
insideContract("docker", subject);
