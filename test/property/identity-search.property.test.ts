import { afterEach, beforeEach, expect, test } from "bun:test";
import fc from "fast-check";
import { normaliseEmail } from "../../src/identity/core/email.ts";
import { matches, parseSearch } from "../../src/identity/core/search.ts";
import { searchColumns } from "../../src/identity/core/search-columns.ts";
import { searchSteps } from "../../src/identity/store/search/run.ts";
import type { Instance } from "../../src/identity/store/records.ts";
import { openTestSearch, type TestSearch } from "../support/identity-search.ts";
import {
  openTestIdentityStore,
  putInstance,
  putSession,
  putUser,
  type TestIdentityStore,
} from "../support/identity-store.ts";
import { type NaiveRow, naiveSearch } from "../support/naive-search.ts";

/** Metacharacters of LIKE, SQL, full-text search and the grammar itself; letters whose case is trouble. */
const alphabet = [
  "a",
  "b",
  "A",
  "B",
  "%",
  "_",
  "\\",
  "'",
  '"',
  "@",
  ".",
  "-",
  ":",
  ">",
  "<",
  "é",
  "É",
  "İ",
  "K",
  "k",
  "𝒜",
  "(",
  "ß",
];
const word = fc.array(fc.constantFrom(...alphabet), { maxLength: 7 }).map((letters) => letters.join(""));
const day = fc.integer({ min: 0, max: 6 });
const timeAt = (days: number) => Date.UTC(2026, 0, 1 + days);

/** Full in test/soak. */
const cases = Math.min(Number(process.env.BERTH_TEST_CASES ?? 200), 3_000);

/** Also what no sign-up takes; and domains that are read otherwise than they are stored. */
const email = fc.oneof(
  word.map((text) => text.toLowerCase()),
  fc
    .tuple(fc.constantFrom("a", "ab", "é", "b-a"), fc.constantFrom("é.b", "aé.a", "xé.kb", "a.b", "ßa.é"))
    .map(([name, domain]) => normaliseEmail(`${name}@${domain}`) ?? ""),
);

const userFields = fc.record({
  email,
  name: word,
  days: fc.tuple(day, day, day, fc.boolean()),
});

const tokenOf = (fields: readonly string[]) =>
  fc
    .record({
      negated: fc.boolean(),
      field: fc.constantFrom(...fields),
      operator: fc.constantFrom(":", ":", ":", ":", ">", "<", ">=", "<="),
      value: word,
      days: day,
      wild: fc.constantFrom("", "", "start", "end", "both", "middle"),
      seconds: fc.boolean(),
    })
    .map(({ negated, field, operator, value, days, wild, seconds }) => {
      const isTime = field.endsWith("_at");
      const time = new Date(timeAt(days)).toISOString().slice(0, 10) + (seconds ? "T00:00:00Z" : "");
      const starred = {
        "": value,
        start: `*${value}`,
        end: `${value}*`,
        both: `*${value}*`,
        middle: `${value.slice(0, 2)}*${value.slice(2)}`,
      };
      return `${negated ? "-" : ""}${field}${operator}${isTime ? time : starred[wild as keyof typeof starred]}`;
    });

const userQuery = fc.array(tokenOf(["email", "name", "created_at", "updated_at", "email_verified_at", "nothing"]), {
  maxLength: 5,
});
const sessionQuery = fc.array(tokenOf(["email", "name", "provider", "ip_address", "last_signin_at", "revoked_at"]), {
  maxLength: 5,
});

let at: TestIdentityStore;
let search: TestSearch;
let instances: Instance[];

beforeEach(async () => {
  at = openTestIdentityStore();
  instances = await at.store.write((nouns) => [putInstance(nouns, "a"), putInstance(nouns, "b")]);
});
afterEach(() => {
  search.close();
  at.remove();
});

test("the evaluator says what the grammar says", () => {
  search = openTestSearch(at.path, 5);
  const row = userFields.map(({ email, name, days: [created, updated, verified, has] }) => ({
    email,
    name,
    created_at: timeAt(created),
    updated_at: timeAt(updated),
    email_verified_at: has ? timeAt(verified) : null,
  }));
  fc.assert(
    fc.property(fc.array(row, { maxLength: 10 }), userQuery, (rows, tokens) => {
      const parsed = parseSearch(tokens.join(" "), searchColumns.users);
      const naive = naiveSearch(rows, tokens.join(" "), searchColumns.users);
      const empty = parsed.ignored.length === tokens.length;
      const found = empty ? [] : rows.filter((one: NaiveRow) => matches(parsed, (field) => one[field]));
      expect(found).toEqual(naive as typeof found);
    }),
    { numRuns: cases * 2 },
  );
});

/** Every way through the data finds the same: by index, by trigrams, by reading along, in small steps and in large ones. */
const small = { candidatesMax: 3, rowsPerRead: 2, rowsPerScan: 4 };
const ways = [
  { way: "by trigrams", smallMax: 0, steps: searchSteps },
  { way: "by trigrams in small steps", smallMax: 0, steps: small },
  { way: "reading along", smallMax: 1_000_000, steps: searchSteps },
  { way: "reading along in small steps", smallMax: 1_000_000, steps: small },
];

for (const { way, smallMax, steps } of ways) {
  test(`users found in the database are those that the grammar says, ${way}`, async () => {
    search = openTestSearch(at.path, smallMax, steps);
    const sample = fc.sample(userFields, { numRuns: 120, seed: 7 });
    const rows = await at.store.write((nouns) =>
      sample.flatMap(({ email, name, days: [created, updated, verified, has] }, index) => {
        const [instance, other] = [instances[index % 2], instances[(index + 1) % 2]];
        if (instance === undefined || other === undefined || nouns.users.byEmail(instance.seq, email)) return [];
        const times = { createdAt: timeAt(created), updatedAt: timeAt(updated) };
        const user = putUser(nouns, instance, {
          email,
          name,
          ...times,
          emailVerifiedAt: has ? timeAt(verified) : undefined,
        });
        const facts = {
          created_at: user.createdAt,
          updated_at: user.updatedAt,
          email_verified_at: user.emailVerifiedAt ?? null,
        };
        return [{ id: user.id, email, name, instance: instance.seq, ...facts } satisfies NaiveRow];
      }),
    );
    // In runs of three, so that there are zones to leave out.
    for (const { seq } of instances) while (search.index.step("users", seq, 3));
    fc.assert(
      fc.property(userQuery, fc.constantFrom(...instances), fc.constantFrom(3, 1_000), (tokens, instance, rowsMax) => {
        const query = tokens.join(" ");
        const own = rows.filter((row) => row.instance === instance.seq).reverse();
        const naive = naiveSearch(own, query, searchColumns.users).map(({ id }) => String(id));
        const parsed = parseSearch(query, searchColumns.users);
        const found =
          parsed.ignored.length === parsed.tokens ? [] : search.ids("users", instance.seq, query, { rowsMax });
        expect(found).toEqual(naive);
      }),
      { numRuns: cases },
    );
    expect(search.index.upto("users", instances[0]?.seq ?? 0) === undefined).toBe(smallMax > 0);
  });

  test(`the same of sessions, which change while they are searched, ${way}`, async () => {
    search = openTestSearch(at.path, smallMax, steps);
    const fields = fc.record({
      email,
      name: word,
      provider: fc.constantFrom("google", "github", "twitter"),
      ip: fc.constantFrom("10.0.0.1", "10.0.3.7", "2001:db8::1"),
      days: fc.tuple(day, day, fc.boolean()),
    });
    const rows: NaiveRow[] = [];
    const owners = await at.store.write((nouns) =>
      instances.map((instance) => putUser(nouns, instance, { email: "o@x.y" })),
    );
    const change = fc.record({ fields, which: fc.nat(), update: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        change,
        sessionQuery,
        async ({ fields: { email, name, provider, ip, days }, which, update }, tokens) => {
          const owner = owners[which % 2];
          if (owner === undefined) return;
          const times = { lastSigninAt: timeAt(days[0]), revokedAt: days[2] ? timeAt(days[1]) : undefined };
          const facts = {
            email,
            name,
            ip_address: ip,
            last_signin_at: times.lastSigninAt,
            revoked_at: times.revokedAt ?? null,
          };
          const old = rows[which % Math.max(1, rows.length)];
          await at.store.write((nouns) => {
            const kept =
              update && old !== undefined
                ? nouns.sessions.get(Number(old.instance), String(old.session_id))
                : undefined;
            if (kept === undefined || old === undefined) {
              const made = putSession(nouns, owner, { email, name, provider, ipAddress: ip, ...times });
              rows.unshift({ id: made.id, session_id: made.sessionId, instance: owner.instance, provider, ...facts });
            } else {
              nouns.sessions.update({ ...kept, email, name, ipAddress: ip, ...times });
              Object.assign(old, facts);
            }
          });
          const query = tokens.join(" ");
          const own = rows.filter((row) => row.instance === owner.instance);
          const naive = naiveSearch(own, query, searchColumns.sessions).map(({ id }) => String(id));
          const parsed = parseSearch(query, searchColumns.sessions);
          const found =
            parsed.ignored.length === parsed.tokens
              ? []
              : search.ids("sessions", owner.instance, query, { rowsMax: 7 });
          expect(found).toEqual(naive);
        },
      ),
      { numRuns: Math.ceil(cases / 4) },
    );
  });
}
