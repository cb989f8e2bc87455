import { dnsCodes, dnsTypes, query, readAnswer } from "../../base/pure/dns-message.ts";
import { networkLimits } from "../../config/network-limits.ts";
import { complainNow, sayNow } from "../../client/basics/output.ts";

const { names: limits } = networkLimits;

/** Words of the process that asks from within a network of its own. */
export const said = { inside: "inside", answered: "answered", silent: "silent" } as const;

/**
 * The other end of `prove.ts`, in an empty network namespace: waits until it has the device `eth0`, gives it an address of
 * the platform's network, and asks as a container would.
 */
export async function askFromOutside([own = "", server = "", name = ""]: readonly string[]): Promise<number> {
  sayNow(said.inside);
  await Bun.stdin.text();
  for (const words of [
    ["addr", "add", own, "dev", "eth0"],
    ["link", "set", "eth0", "up"],
  ]) {
    const { exitCode, stderr } = Bun.spawnSync(["ip", ...words], { timeout: limits.askMs });
    if (exitCode === 0) continue;
    complainNow(stderr.toString().trim());
    return 1;
  }
  sayNow((await isAnswered(server, name)) ? said.answered : said.silent);
  return 0;
}

/** Whether a server says with authority that the name does not exist. A lost datagram is sent again. */
async function isAnswered(address: string, name: string): Promise<boolean> {
  const [hostname = "", port = ""] = address.split(":");
  const answered = Promise.withResolvers<boolean>();
  const id = Math.floor(Math.random() * 0x10000);
  const socket = await Bun.udpSocket({
    socket: {
      data(_, message) {
        const answer = readAnswer(message, id);
        if (answer !== undefined) answered.resolve(answer.isOwn && answer.code === dnsCodes.absent);
      },
      error() {},
    },
  });
  const ask = () => {
    try {
      socket.send(query(id, name, dnsTypes.a), Number(port), hostname);
    } catch {
      // Nothing listens there: asked again until the time is over.
    }
  };
  const again = setInterval(ask, limits.askAgainMs);
  const late = setTimeout(() => answered.resolve(false), limits.askMs);
  ask();
  try {
    return await answered.promise;
  } finally {
    clearInterval(again);
    clearTimeout(late);
    socket.close();
  }
}
