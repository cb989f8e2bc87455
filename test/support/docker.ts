import Dockerode from "dockerode";
import { type Naming, naming } from "../../src/orchestration/core/naming.ts";
import { engineAddress } from "../../src/orchestration/engine/docker/client.ts";

/** Busybox: sh sleep cat httpd nc env. Made beforehand, on the engine that the tests run against. */
export const fixtureImage = "berth-fixture:1";

/** `unix:///path` or `tcp://host:port` of the engine that tests may use; undefined when none was named. */
export function dockerHost(): string | undefined {
  return process.env.BERTH_TEST_DOCKER_HOST;
}

/** The engine for tests that cannot do without. Never skips: a test that did not run proves nothing. */
export function requireDocker(): string {
  const host = dockerHost();
  if (host === undefined || host === "") {
    throw new Error("set BERTH_TEST_DOCKER_HOST to an engine for tests, such as unix:///var/run/docker.sock");
  }
  return host;
}

/** The engine without anything of ours in between. */
export function rawDocker(host = requireDocker()): Dockerode {
  return new Dockerode({ host: undefined, port: undefined, protocol: "http", ...engineAddress(host) });
}

export interface Scratch {
  names: Naming;
  installationId: string;
  docker: Dockerode;
  /** A name that no other test uses. */
  unique(text: string): string;
  /** Removes every container, network and volume of this installation. */
  cleanUp(): Promise<void>;
}

export function scratch(host = requireDocker()): Scratch {
  const tag = crypto.randomUUID().slice(0, 8);
  const names = naming(`t${tag}`);
  const installationId = `test-${tag}`;
  const docker = rawDocker(host);
  const filters = { label: [`${names.label.installation}=${installationId}`] };
  return {
    names,
    installationId,
    docker,
    unique: (text) => `t${tag}-${text}`,
    cleanUp: async () => {
      const containers = await docker.listContainers({ all: true, filters });
      await Promise.all(containers.map(({ Id }) => docker.getContainer(Id).remove({ force: true, v: true })));
      const networks = await docker.listNetworks({ filters });
      await Promise.all(networks.map(({ Id }) => docker.getNetwork(Id).remove()));
      const { Volumes } = await docker.listVolumes({ filters });
      await Promise.all((Volumes ?? []).map(({ Name }) => docker.getVolume(Name).remove()));
    },
  };
}
