import { randomBytes } from "node:crypto";
import { networkLimits } from "../../config/network-limits.ts";
import { said } from "./ask.ts";
import { addressOf, numberOf } from "./zone.ts";

interface ProofParts {
  /** Program and first words of this program. */
  self: readonly string[];
  /** Device of the platform's network. */
  bridge: string;
  subnet: string;
  /** Where the name server listens, with its port. */
  server: string;
  suffix: string;
  /** Addresses that containers have, and the gateway. */
  taken: readonly string[];
}

const { names: limits } = networkLimits;

/**
 * Asks the name server as a container would: from a network namespace of its own behind the bridge. So it is known that no
 * firewall drops the question, for which Docker would wait 4 s at each lookup. Resolves with what is wrong, or undefined.
 */
export async function prove(parts: ProofParts): Promise<string | undefined> {
  const address = freeAddress(parts.subnet, parts.taken);
  if (address === undefined) return "not tested: the network has no free address";
  if (Bun.which("unshare") === null || Bun.which("ip") === null)
    return "not tested: it takes unshare and ip (iproute2)";
  const name = `${randomBytes(8).toString("hex")}.${parts.suffix}`;
  const words = ["name-server", "ask", address, parts.server, name];
  const child = Bun.spawn(["unshare", "--net", "--", ...parts.self, ...words], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    timeout: limits.proofMs,
    killSignal: "SIGKILL",
  });
  const complaint = new Response(child.stderr).text();
  const lines = linesOf(child.stdout);
  const device = `v${randomBytes(5).toString("hex")}`;
  try {
    if ((await lines.next()).value === said.inside) {
      const failed = connect(device, parts.bridge, child.pid);
      if (failed !== undefined) return `not tested: ${failed}`;
      child.stdin.end();
      const { value } = await lines.next();
      if (value === said.answered) return undefined;
      if (value === said.silent)
        return "a firewall drops the questions, and each lookup of a container that already asks takes 4 s";
    }
    return `not tested: ${(await complaint).trim().slice(0, 200) || "the process that asks ended early"}`;
  } finally {
    child.kill("SIGKILL");
    await child.exited;
    // The device goes with the namespace, a moment later.
    run(["ip", "link", "del", device]);
  }
}

/** The last address that is not in use: Docker gives it away when it has no other. With the length of the subnet. */
export function freeAddress(subnet: string, taken: readonly string[]): string | undefined {
  const [base = "", bits = ""] = subnet.split("/");
  const from = numberOf(base);
  if (from === undefined || Number(bits) > 30) return undefined;
  const used = new Set(taken);
  const last = from + 2 ** (32 - Number(bits)) - 2;
  for (let number = last; number > from && last - number <= used.size; number -= 1) {
    const address = addressOf(number);
    if (!used.has(address)) return `${address}/${bits}`;
  }
  return undefined;
}

/** What went wrong, or undefined. */
function connect(device: string, bridge: string, pid: number): string | undefined {
  return (
    run(["ip", "link", "add", device, "type", "veth", "peer", "name", "eth0", "netns", String(pid)]) ??
    run(["ip", "link", "set", device, "master", bridge, "up"])
  );
}

function run(command: string[]): string | undefined {
  const { exitCode, stderr } = Bun.spawnSync(command, { timeout: limits.askMs, stdout: "ignore" });
  return exitCode === 0 ? undefined : stderr.toString().trim().slice(0, 200) || `${command.join(" ")} failed`;
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const part of stream) {
    const texts = (rest + decoder.decode(part, { stream: true })).split("\n");
    rest = texts.pop() ?? "";
    yield* texts;
  }
}
