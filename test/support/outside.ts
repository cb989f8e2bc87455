import { readFileSync } from "node:fs";

/** What is behind the default route of this machine: a network namespace where every private address is at home. */
interface Outside {
  /** TCP segments that have reached it. */
  segments(): number;
  close(): Promise<void>;
}

const [here, there] = ["198.18.0.1", "198.18.0.2"];
const [link, peer] = ["outside0", "outside1"];

/** Makes it, with the default route. It needs root, and a machine without a default route. */
export function openOutside(): Outside {
  const holder = Bun.spawn(["unshare", "--net", "sleep", "600"], { stdin: "ignore", stdout: "ignore" });
  const { pid } = holder;
  const own = readlink("self");
  while (readlink(String(pid)) === own) Bun.sleepSync(5);
  const within = (...words: string[]) => run("nsenter", `--net=/proc/${pid}/ns/net`, "ip", ...words);
  run("ip", "link", "add", link, "type", "veth", "peer", "name", peer, "netns", String(pid));
  run("ip", "addr", "add", `${here}/30`, "dev", link);
  run("ip", "link", "set", link, "up");
  within("addr", "add", `${there}/30`, "dev", peer);
  within("link", "set", peer, "up");
  within("link", "set", "lo", "up");
  within("route", "add", "default", "via", here);
  for (const subnet of ["172.16.0.0/12", "192.168.0.0/16", "10.0.0.0/8"])
    within("route", "add", "local", subnet, "dev", "lo");
  run("ip", "route", "add", "default", "via", there);
  return {
    segments: () => segmentsIn(readFileSync(`/proc/${pid}/net/snmp`, "utf8")),
    async close() {
      run("ip", "link", "del", link);
      holder.kill();
      await holder.exited;
    },
  };
}

function readlink(pid: string): string {
  return Bun.spawnSync(["readlink", `/proc/${pid}/ns/net`]).stdout.toString();
}

/** The field `InSegs` of the two rows `Tcp:`. */
function segmentsIn(snmp: string): number {
  const [names = "", values = ""] = snmp.split("\n").filter((line) => line.startsWith("Tcp:"));
  return Number(values.split(" ")[names.split(" ").indexOf("InSegs")]);
}

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command, { stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
}
