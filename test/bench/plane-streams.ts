import type { Socket } from "bun";
import { waitFor } from "../support/wait.ts";
import { type PlaneServer, startPlaneServer } from "../support/plane-server.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";

/** BERTH_BENCH_SECONDS: how long each state is looked at. */
const seconds = Number(process.env.BERTH_BENCH_SECONDS ?? 15);
const clients = 1_000;
const tabs = 50;
const apps = 200;
const perToken = 50;
/** What has just begun does not count. */
const settleMs = 5_000;

/** Processor time of the server while browsers listen and nothing changes, beside the same server without listeners. */
export async function run(): Promise<BenchRow[]> {
  const plane = await startPlaneServer();
  try {
    const alone = await shareOfCore(plane);
    const idle = await withClients(plane, clients, "alerts");
    await plane.apps(apps);
    const quiet = await shareOfCore(plane);
    const open = await withClients(plane, tabs, "state,metrics,events");
    return [
      row(`streams: ${clients} idle clients`, idle, alone),
      row(`web UI: ${tabs} tabs, ${apps} apps, nothing changes`, open, quiet),
    ];
  } finally {
    await plane.close();
  }
}

function row(name: string, value: number, baseline: number): BenchRow {
  return { name, value, unit: "% of a core", baseline, ratio: value / baseline, wanted: "value <= 5" };
}

/** Bare sockets: a client that holds a thousand streams at once must cost as little as it can. */
async function withClients(plane: PlaneServer, count: number, topics: string): Promise<number> {
  const { hostname, port } = new URL(plane.url);
  const sockets: Socket[] = [];
  let begun = 0;
  let ended = 0;
  const close = () => {
    ended += 1;
  };
  const data = (_: Socket, chunk: Buffer) => {
    if (chunk.includes("HTTP/1.1 200")) begun += 1;
  };
  for (let from = 0; from < count; from += perToken) {
    const token = await plane.token();
    for (let at = from; at < Math.min(from + perToken, count); at++) {
      const socket = await Bun.connect({ hostname, port: Number(port), socket: { data, close } });
      socket.write(
        `GET /api/pat/v1/stream?topics=${topics} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
      );
      sockets.push(socket);
    }
  }
  await waitFor(`${count} streams`, () => begun === count);
  const share = await shareOfCore(plane);
  mustBe("streams that ended meanwhile", ended, 0);
  for (const socket of sockets) socket.terminate();
  return share;
}

async function shareOfCore(plane: PlaneServer): Promise<number> {
  await Bun.sleep(settleMs);
  const [before, began] = [plane.cpuSeconds(), performance.now()];
  await Bun.sleep(seconds * 1_000);
  return ((plane.cpuSeconds() - before) / ((performance.now() - began) / 1_000)) * 100;
}
