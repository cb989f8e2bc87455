import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/base/sqlite/database.ts";
import { identityMigrations, tuneForMany } from "../../src/identity/store/open-store.ts";
import { identityWorld } from "../support/identity.ts";
import { manageFetch } from "../support/identity-plane.ts";
import { median } from "./median.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";

const rounds = 10;
const usersPerRound = 100_000;
/** Lines of about 200 bytes: what the client sends in one request. */
const linesPerRequest = 4_000;
/** The larger the transaction, the faster the bare insert. */
const rowsPerTransaction = 10_000;

/** A million users through the API, against the same rows put into the same tables by a prepared statement. */
export async function run(): Promise<BenchRow[]> {
  const world = identityWorld();
  const bare = openBare();
  try {
    const { id } = await world.tenant();
    const ask = manageFetch(world.running.identity.manage, world.context.log);
    const rates = { bare: [] as number[], imported: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      const users = Array.from({ length: usersPerRound }, (_, index) => userOf(round * usersPerRound + index));
      rates.bare.push(await perSecond(() => bare.insert(users)));
      const bodies = inPieces(users, linesPerRequest).map((piece) =>
        piece.map((user) => JSON.stringify(user)).join("\n"),
      );
      rates.imported.push(await perSecond(() => importAll(ask, id, bodies)));
      world.logged.length = 0;
    }
    const stored = world.context.store.users.list(1, { limit: 1 })[0]?.seq;
    mustBe("users that were imported", stored, rounds * usersPerRound);
    mustBe("users beside", bare.count(), rounds * usersPerRound);
    const total = (list: number[]) =>
      (usersPerRound * rounds) / list.reduce((sum, rate) => sum + usersPerRound / rate, 0);
    const ratio = median(rates.imported.map((rate, round) => rate / (rates.bare[round] ?? Number.NaN)));
    return [
      {
        name: "identity: import of 1,000,000 users",
        value: total(rates.imported),
        unit: "users/s",
        baseline: total(rates.bare),
        ratio,
        wanted: ">= 0.5",
      },
    ];
  } finally {
    bare.close();
    world.close();
  }
}

interface BenchUser {
  id: string;
  email: string;
  name: string;
  password_hash: string;
  created_at: string;
}

const hash = "$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";

/** Ids and addresses in no order, as they are in the world. */
function userOf(n: number): BenchUser {
  return {
    id: crypto.randomUUID(),
    email: `${(n * 2_654_435_761) % 4_294_967_296}.user${n}@example.test`,
    name: `User Number ${n}`,
    password_hash: hash,
    created_at: new Date(1_600_000_000_000 + n * 1_000).toISOString(),
  };
}

async function importAll(ask: ReturnType<typeof manageFetch>, instance: string, bodies: string[]): Promise<void> {
  for (const body of bodies) {
    const answer = await ask(`POST /identity/import?instance=${instance}`, body);
    const { data } = (await answer.json()) as { data?: { failed: number } };
    if (data?.failed !== 0) throw new Error(`an import answered ${answer.status}: ${JSON.stringify(data)}`);
  }
}

/** The same tables, indexes and triggers. */
function openBare() {
  const folder = mkdtempSync(join(tmpdir(), "identity-bare-"));
  const db = openDatabase(join(folder, "identity.db"), identityMigrations);
  tuneForMany(db);
  db.run("insert into apps (id, name, created_at) values ('app_a', 'a', 1)");
  db.run(
    "insert into instances (id, app_id, name, environment, publishable_key, settings, created_at, updated_at)" +
      " values ('inst_a', 'app_a', 'a', 'production', 'pk', '{}', 1, 1)",
  );
  const put = db.query<unknown, (string | number | null)[]>(
    "insert into users (id, instance, email, name, avatar_url, email_verified_at, placeholder, password_hash," +
      " banned_at, created_at, updated_at) values (?, 1, ?, ?, null, null, 0, ?, null, ?, ?)",
  );
  const some = db.transaction((users: BenchUser[]) => {
    for (const { id, email, name, password_hash, created_at } of users) {
      const at = Date.parse(created_at);
      put.run(id, email, name, password_hash, at, at);
    }
  });
  return {
    async insert(users: BenchUser[]) {
      for (const piece of inPieces(users, rowsPerTransaction)) some(piece);
    },
    count: () => db.query<{ count: number }, []>("select count(*) as count from users").get()?.count,
    close() {
      db.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function inPieces<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));
}

async function perSecond(work: () => Promise<void>): Promise<number> {
  const before = performance.now();
  await work();
  return (usersPerRound * 1_000) / (performance.now() - before);
}
