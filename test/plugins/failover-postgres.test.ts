import { SQL } from "bun";
import { setDefaultTimeout } from "bun:test";
import { postgresImage } from "../support/blocks.ts";
import { failoverTests, quickLookUps } from "../support/failover.ts";
import { Refused } from "../support/writers.ts";

setDefaultTimeout(400_000);

/** SQLSTATE of a write to a standby. */
const readOnly = "25006";

failoverTests("postgres", {
  plugin: "pg",
  key: "PG",
  block: {
    kind: "pg",
    scope: "data",
    name: "main",
    spec: {
      image: postgresImage,
      replicas: 3,
      failover: { after: "5s", synchronous: true },
      stop_grace: "10s",
      env: quickLookUps,
    },
  },
  async connect(hostname, { POSTGRES_PASSWORD: password = "" }) {
    const login = { username: "app", password, database: "app" };
    const sql = new SQL({ adapter: "postgres", hostname, port: 5432, ...login, max: 1, connectionTimeout: 2 });
    return {
      async write(n) {
        try {
          await sql`insert into t values (${n})`;
        } catch (error) {
          throw (error as { errno?: unknown }).errno === readOnly ? new Refused(String(error)) : error;
        }
      },
      async leads() {
        const [row] = await sql`select pg_is_in_recovery() as follows`;
        return row.follows === false;
      },
      close: () => void sql.close({ timeout: 0 }).catch(() => undefined),
    };
  },
  writeByName: ({ POSTGRES_PASSWORD: password }, hosts) => {
    const url = `postgres://app:${password}@${hosts.map((host) => `${host}:5432`).join(",")}/app`;
    return `PATH=$(echo /usr/lib/postgresql/*/bin):$PATH psql -XAtqw '${url}?target_session_attrs=read-write&connect_timeout=2' -c 'insert into t values (0)'`;
  },
});
