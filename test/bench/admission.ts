import { limits } from "../../src/config/config.ts";
import { admissionRefusal } from "../../src/base/pure/admission.ts";
import { startFront } from "../../src/base/http/front/front.ts";
import { createPeers } from "../../src/base/machine/peers.ts";
import { createAskKernel } from "../../src/base/machine/socket-diag.ts";
import { createLog } from "../../src/base/words/log.ts";
import { addressOf } from "../support/raw-client.ts";
import { median } from "./median.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";

const processes = 500;
const [rounds, connections] = [5, 100];

/** CPU time that it costs to know who opens a connection, beside what the same connection costs where nobody is asked. */
export async function admissionRow(): Promise<BenchRow> {
  const others = Array.from({ length: processes }, () =>
    Bun.spawn(["sleep", "600"], { stdio: ["ignore", "ignore", "ignore"] }),
  );
  const asks = { quick: limits.peerQuickLook, ask: createAskKernel() };
  const peers = createPeers({ group: "berth", uid: process.getuid?.() ?? 0, timeoutMs: limits.peerSearchMs, ...asks });
  let asked = 0;
  const asking = await listen(async (ends) => {
    asked += 1;
    return admissionRefusal(await peers.who(ends), "");
  });
  const open = await listen(undefined);
  const figures: { asking: number; open: number }[] = [];
  for (let round = 0; round <= rounds; round++)
    figures.push({ asking: await asking.cpuMs(), open: await open.cpuMs() });
  await Promise.all([asking.stop(), open.stop()]);
  mustBe("processes beside", others.filter(({ exitCode }) => exitCode === null).length, processes);
  for (const other of others) other.kill();
  mustBe("connections that were asked about", asked, (rounds + 1) * connections);
  // The first round finds this process among all of them, and compiles.
  const steady = figures.slice(1);
  const baseline = median(steady.map((figure) => figure.open));
  const value = median(steady.map((figure) => figure.asking - figure.open));
  return {
    name: `who opens a TCP connection, beside ${processes} processes`,
    value: Number(value.toFixed(3)),
    unit: "ms of CPU",
    baseline: Number(baseline.toFixed(3)),
    ratio: value / baseline,
    wanted: "value <= 1",
  };
}

type Admit = NonNullable<Parameters<typeof startFront>[0]["tcp"]>["admit"];

async function listen(admit: Admit): Promise<{ cpuMs(): Promise<number>; stop(): Promise<void> }> {
  const log = createLog(() => {}, "error");
  const front = await startFront({
    tcp: { hostname: "127.0.0.1", port: 0, admit },
    app: () => new Response("{}\n"),
    limits,
    log,
  });
  const address = addressOf(front.addresses[0]);
  if ("unix" in address) throw new Error("the bench needs TCP");
  return {
    async cpuMs() {
      const before = process.cpuUsage();
      for (let count = 0; count < connections; count++) await answered(address);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000 / connections;
    },
    stop: () => front.stop(0),
  };
}

/** One connection with one request. Anything but 200 is a fault of the bench: what is refused costs less. */
async function answered(address: { hostname: string; port: number }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let text = "";
  await Bun.connect({
    ...address,
    socket: {
      open: (socket) => void socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
      data: (_, bytes) => {
        text += bytes.toString();
      },
      close: () => (text.startsWith("HTTP/1.1 200 ") ? resolve() : reject(new Error(`answered ${text.slice(0, 300)}`))),
    },
  });
  await promise;
}
