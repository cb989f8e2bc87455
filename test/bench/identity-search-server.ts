import { existsSync } from "node:fs";
import { Database } from "bun:sqlite";
import { Elysia } from "elysia";
import { startListener } from "../../src/http/identity/listener.ts";
import { identityLimits } from "../../src/config.ts";
import { silentLog } from "../../src/lib/log.ts";
import { identityWorld, type Tenant } from "../support/identity.ts";
import { seedUsers } from "../support/identity-seed.ts";

/**
 * The server of the search benchmark, in a process of its own: the identity service over a million users in one
 * instance and a fifth of that in nine others, and beside it a bare route. Tells in one line where, with which keys.
 */
export interface BenchServer {
  port: number;
  barePort: number;
  /** Secret keys: of the large instance and of one of the ten. */
  keys: { large: string; oneOfTen: string };
  /** A token of the large instance. */
  token: string;
  seededMs: number;
  indexedMs: number;
}

const count = Number(process.argv[2] ?? 1_000_000);

const world = identityWorld();
const large = await world.tenant();
const ten: Tenant[] = [];
for (let n = 0; n < 9; n++) ten.push(await world.tenant());
const middle = ten[4];
if (middle === undefined) throw new Error("ten instances were expected");
const { token } = await world.signedIn(large);

const begun = performance.now();
seedUsers(world.path, [large.entry().instance.seq], count);
seedUsers(
  world.path,
  ten.map((tenant) => tenant.entry().instance.seq),
  Math.floor(count / 5),
);
const seededMs = performance.now() - begun;
const stopping = new AbortController();
const running = world.running.run(stopping.signal);
await untilIndexed();
for (const line of world.logged) if (line.includes('"error"')) console.error(line);
const indexedMs = performance.now() - begun - seededMs;

const listen = (handler: (request: Request) => Response | Promise<Response>) =>
  startListener({
    address: { hostname: "127.0.0.1", port: 0 },
    handler: () => handler,
    limits: identityLimits,
    log: silentLog,
  });
const service = listen(world.fetch);
const app = new Elysia({ normalize: false }).get(
  "/bare",
  () => new Response("[]", { headers: { "Content-Type": "application/json" } }),
);
const bare = listen((request) => app.fetch(request));
const portOf = (address: string) => Number(address.split(":").at(-1));

const ready: BenchServer = {
  port: portOf(service.address),
  barePort: portOf(bare.address),
  keys: { large: large.secretKey, oneOfTen: middle.secretKey },
  token,
  seededMs,
  indexedMs,
};
console.log(JSON.stringify(ready));

for await (const _ of process.stdin) break;
stopping.abort();
await Promise.all([service.stop(0), bare.stop(0), running]);
world.close();
process.exit(0);

/** Everything is in the trigram indexes. */
async function untilIndexed(): Promise<void> {
  for (const tenant of [large, ...ten]) {
    const { seq } = tenant.entry().instance;
    while (indexed(seq) < lastUser(seq)) await Bun.sleep(500);
  }
}

function indexed(instance: number): number {
  return lookUp(
    `${world.path}.search`,
    "select upto as seq from progress where kind = 'users' and instance = ?",
    instance,
  );
}

function lastUser(instance: number): number {
  return lookUp(world.path, "select max(seq) as seq from users where instance = ?", instance);
}

function lookUp(path: string, sql: string, instance: number): number {
  if (!existsSync(path)) return 0;
  const db = new Database(path, { readonly: true });
  try {
    return db.query<{ seq: number }, [number]>(sql).get(instance)?.seq ?? 0;
  } finally {
    db.close();
  }
}
