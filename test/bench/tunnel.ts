import { readdirSync } from "node:fs";
import { join } from "node:path";
import { executable } from "../support/executable.ts";
import { deployment } from "../support/manifests.ts";
import { rig } from "../support/rig.ts";
import { startSshd } from "../support/sshd.ts";
import { elapsed, median } from "./median.ts";
import { mustHold } from "./proof.ts";
import type { BenchRow } from "./row.ts";

const rounds = 30;

/** The client through a tunnel that is open, against curl through the same socket, and against the client on the server. */
export async function run(): Promise<BenchRow[]> {
  const berth = await rig();
  await using sshd = await startSshd();
  const tunnels = join(sshd.folder, "t");
  const env = {
    PATH: process.env.PATH ?? "",
    BERTH_REMOTES: join(sshd.folder, "remotes.json"),
    BERTH_TUNNELS: tunnels,
    BERTH_SSH_CONFIG: sshd.clientConfig,
  };
  const ended = async (argv: string[], more: Record<string, string> = {}) => {
    const streams = { stdin: "ignore", stdout: "pipe", stderr: "ignore" } as const;
    const child = Bun.spawn(argv, { ...streams, env: { ...env, ...more } });
    const text = await child.stdout.text();
    if ((await child.exited) !== 0) throw new Error(`${argv.join(" ")} failed`);
    return text;
  };
  try {
    await berth.apply(deployment("bench", "web"));
    await berth.ready("deployment", "bench", "web");
    const address = `root@127.0.0.1:${sshd.port}`;
    await ended([executable, "remote", "add", "far", address, "--socket", join(berth.root, "run/berth.sock")]);
    await ended([executable, "get"]);
    const socket = join(tunnels, readdirSync(tunnels).find((name) => name.endsWith(".sock")) ?? "");
    const told = async (argv: string[], more?: Record<string, string>) =>
      mustHold(argv.join(" "), await ended(argv, more), "web");
    const ways = {
      ours: () => told([executable, "get"]),
      curl: () => told(["curl", "-sf", "--unix-socket", socket, "http://localhost/apply?status=true&blocks=true"]),
      server: () => told([executable, "get"], { BERTH_ENDPOINT: berth.endpoint }),
    };
    const times = { ours: [] as number[], curl: [] as number[], server: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      times.ours.push(await elapsed(ways.ours));
      times.curl.push(await elapsed(ways.curl));
      times.server.push(await elapsed(ways.server));
    }
    const [ours, curl, server] = [median(times.ours), median(times.curl), median(times.server)];
    await ended([executable, "remote", "rm", "far"]);
    return [
      {
        name: "get, warm tunnel / curl",
        unit: "ms",
        value: ours,
        baseline: curl,
        ratio: ours / curl,
        wanted: "<= 1.5",
      },
      {
        name: "get, warm tunnel / on the server",
        unit: "ms",
        value: ours,
        baseline: server,
        ratio: ours / server,
        wanted: "<= 1.2",
      },
    ];
  } finally {
    await berth.close();
  }
}
