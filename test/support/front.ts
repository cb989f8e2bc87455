import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "../../src/config/config.ts";
import type { FrontLimits } from "../../src/base/http/front/connection.ts";
import { type Front, type FrontOptions, startFront } from "../../src/base/http/front/front.ts";
import { createLog, type LogFields } from "../../src/base/words/log.ts";
import { type Address, addressOf, connectRaw, type RawClient } from "./raw-client.ts";

/** A front on a free port and a unix socket of its own, with everything a test wants to look at. */
export interface TestFront extends Front {
  tcp: Address;
  unix: { unix: string };
  url: string;
  log: LogFields[];
  connect(): Promise<RawClient>;
  close(): Promise<void>;
}

type Overrides = Partial<Omit<FrontOptions, "limits">> & { limits?: Partial<FrontLimits> };

export async function startTestFront(overrides: Overrides): Promise<TestFront> {
  const folder = mkdtempSync(join(tmpdir(), "front-"));
  const log: LogFields[] = [];
  const front = await startFront({
    tcp: { hostname: "127.0.0.1", port: 0 },
    unixPath: join(folder, "b.sock"),
    app: () => new Response("nothing here", { status: 404 }),
    log: createLog((line) => log.push(JSON.parse(line)), "debug"),
    ...overrides,
    limits: { ...limits, drainMs: 300, ...overrides.limits },
  }).catch((error: unknown) => {
    rmSync(folder, { recursive: true });
    throw error;
  });
  const tcp = addressOf(front.addresses[0]);
  return {
    ...front,
    tcp,
    unix: { unix: join(folder, "b.sock") },
    url: `http://${front.addresses[0]}`,
    log,
    connect: () => connectRaw(tcp),
    async close() {
      await front.stop(0);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Answers with what it got, as JSON. */
export async function echo(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const body = await request.text();
  return Response.json({
    method: request.method,
    path: pathname + search,
    bytes: body.length,
    body: body.slice(0, 100),
  });
}

/** Waits for what another turn of the loop brings; the test's own time-out is the limit. */
export async function eventually(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(1);
}
