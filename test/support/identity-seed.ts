import { Database } from "bun:sqlite";

/** Users of a made-up instance: 5 % are called Silva, 30 % are at gmail.com; each address holds its number. */
export const seedFacts = {
  first: ["Alice", "Bruno", "Carla", "Davi", "Elena", "Felix", "Gina", "Hugo", "Ines", "João"],
  last: ["Silva", "Souza", "Meyer", "Novak", "Rossi", "Dubois", "Larsen", "Kowalski", "Ivanov", "Tanaka"],
  hosts: [
    "gmail.com",
    "gmail.com",
    "gmail.com",
    "corp.io",
    "corp.io",
    "mail.test",
    "uni.edu",
    "uni.edu",
    "post.de",
    "web.fr",
  ],
};

export interface SeededUser {
  email: string;
  name: string;
  /** Epoch milliseconds: one a minute, ending at `seedEnd`. */
  createdAt: number;
}

export const seedEnd = Date.UTC(2026, 0, 1);

export function seededUser(number: number, count: number): SeededUser {
  const { first, last, hosts } = seedFacts;
  // Mixed, so that no part of a user tells of another, nor of the instance.
  const mixed = Math.imul(number + 1, 2_654_435_761) >>> 0;
  const family = mixed % 20 === 7 ? "Silva" : (last[1 + (mixed % 9)] ?? "");
  const given = first[(mixed >>> 8) % 10] ?? "";
  const host = hosts[(mixed >>> 16) % 10] ?? "";
  return {
    email: `${given}.${family}${number}@${host}`.toLowerCase(),
    name: `${given} ${family}`,
    createdAt: seedEnd - (count - number) * 60_000,
  };
}

/** Writes users straight into the database, in one transaction; much faster than the service could. */
export function seedUsers(path: string, instances: readonly number[], count: number): void {
  const db = new Database(path);
  db.run("pragma busy_timeout = 10000");
  const insert = db.prepare<unknown, (string | number)[]>(
    "insert into users (id, instance, email, name, placeholder, created_at, updated_at) values (?, ?, ?, ?, 0, ?, ?)",
  );
  db.transaction(() => {
    for (let number = 0; number < count; number++) {
      const { email, name, createdAt } = seededUser(number, count);
      const instance = instances[number % instances.length] ?? 0;
      const id = `00000000-0000-4000-8${String(instance).padStart(3, "0")}-${String(number).padStart(12, "0")}`;
      insert.run(id, instance, email, name, createdAt, createdAt);
    }
  })();
  insert.finalize();
  db.close();
}
