import { existsSync } from "node:fs";
import { Database } from "bun:sqlite";
import { Elysia, t } from "elysia";
import { createIdentityApp } from "../../src/identity/http/app.ts";
import { listenerRefusals } from "../../src/identity/http/answers.ts";
import { startListener } from "../../src/base/http/listener.ts";
import { identityLimits } from "../../src/config/config.ts";
import { identityWorld, type Tenant } from "../support/identity.ts";
import { seededUser, seedUsers } from "../support/identity-seed.ts";
import { silentLog } from "../support/silent-log.ts";
import { mustHold } from "./proof.ts";

/**
 * The server of the search benchmark, in a process of its own: the identity service over a million users in one
 * instance and a fifth of that in nine others, and beside it a bare route. Tells in one line where, with which keys.
 */
export interface BenchServer {
  port: number;
  barePort: number;
  /** Secret keys: of the large instance and of one of the ten. */
  keys: { large: string; oneOfTen: string };
  /** Of a user of the large instance. */
  exactEmail: string;
  /** A token of the large instance. */
  token: string;
  seededMs: number;
  indexedMs: number;
}

const count = Number(process.argv[2] ?? 1_000_000);

const world = identityWorld();
const large = await world.tenant();
const exactEmail = seededUser(Math.floor(count / 13), count).email;
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
    refusals: listenerRefusals,
    limits: identityLimits,
    log: silentLog,
  });
// As in production: a line per request of the API is for debugging.
const proxies = { peerOf: () => "127.0.0.1", trusted: [] };
const quiet = { identity: world.running.identity, log: silentLog, limits: identityLimits, proxies };
const service = listen(createIdentityApp(quiet).fetch);
// The same query and the same answer, with nothing between them.
const answer = await answerTo(`email:${exactEmail}`);
mustHold("the answer to an exact search", answer, `"${exactEmail}"`);
const app = new Elysia({ normalize: false }).get(
  "/bare",
  () => new Response(answer, { headers: { "Content-Type": "application/json" } }),
  { query: t.Object({ query: t.String() }) },
);
const bare = listen((request) => app.fetch(request));
const portOf = (address: string) => Number(address.split(":").at(-1));

const ready: BenchServer = {
  port: portOf(service.address),
  barePort: portOf(bare.address),
  keys: { large: large.secretKey, oneOfTen: middle.secretKey },
  exactEmail,
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

async function answerTo(query: string): Promise<string> {
  const url = `http://${service.address}/api/v1/users/search?query=${encodeURIComponent(query)}`;
  const answered = await fetch(url, { headers: { "X-Service-Secret-Key": large.secretKey } });
  return answered.text();
}

/** Everything is in the trigram indexes. */
async function untilIndexed(): Promise<void> {
  // A small instance has no index that could be waited for.
  const others = count / 5 / ten.length > identityLimits.search.smallMax ? ten : [];
  for (const tenant of [large, ...others]) {
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
