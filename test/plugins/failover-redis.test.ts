import { RedisClient } from "bun";
import { setDefaultTimeout } from "bun:test";
import { redisImage } from "../support/blocks.ts";
import { failoverTests } from "../support/failover.ts";
import { Refused } from "../support/writers.ts";

setDefaultTimeout(400_000);

failoverTests("redis", {
  plugin: "redis",
  key: "REDIS",
  block: {
    kind: "redis",
    scope: "data",
    name: "main",
    spec: { image: redisImage, replicas: 3, failover: { after: "5s" }, stop_grace: "10s" },
  },
  async connect(hostname, { REDIS_PASSWORD: password }) {
    const client = new RedisClient(`redis://default:${password}@${hostname}:6379`, {
      autoReconnect: false,
      enableOfflineQueue: false,
      connectionTimeout: 2_000,
    });
    await client.connect();
    return {
      async write(n) {
        const added = await client.sadd("t", String(n)).catch((error: unknown) => {
          throw /^READONLY/.test(String((error as Error).message)) ? new Refused(String(error)) : error;
        });
        if (added !== 1) throw new Error(`sadd answers ${added}`);
      },
      leads: async () => /^role:master\r?$/m.test(String(await client.send("INFO", ["replication"]))),
      close: () => client.close(),
    };
  },
  writeByName: ({ REDIS_PASSWORD: password }, hosts) =>
    `for host in ${hosts.join(" ")}; do case "$(REDISCLI_AUTH=${password} timeout 2 redis-cli --no-auth-warning -h $host sadd t 0 2>/dev/null)" in 0 | 1) exit 0 ;; esac; done; exit 1`,
});
