import { afterAll, beforeEach, expect, test } from "bun:test";
import { promotionCommand } from "../../../../plugins/kit/promotion.ts";
import { newPasswordFor as postgresPassword } from "../../../../plugins/postgres/commands/new-password.ts";
import { postgresKind } from "../../../../plugins/postgres/server.ts";
import { redisKind } from "../../../../plugins/redis/server.ts";
import { newPasswordFor as redisPassword } from "../../../../plugins/redis/commands/new-password.ts";

/** A server that answers as the address of a run does, for a caller that may not change the linked app. */
const asked: string[] = [];
const link = { app: "shop/web", key: "DATABASE_URL", user: "app", database: "app" };
const vars = {
  ...{ PG_LINKS: JSON.stringify([link]), REDIS_LINKS: JSON.stringify([{ ...link, user: "default" }]) },
  ...{ POSTGRES_PASSWORD: "p", REDIS_PASSWORD: "p", PG_PASSWORD: "p" },
};
const pod = { name: "data-main.0", kind: "statefulset", scope: "data", replica_id: "0", running: true, ready: true };
const marks = { [postgresKind.mark]: "1", [redisKind.mark]: "1" };
const server = Bun.serve({
  ...{ port: 0, hostname: "127.0.0.1", development: false, reusePort: false },
  fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    const of = `${searchParams.get("scope")}/${searchParams.get("name")}`;
    asked.push(`${request.method} ${pathname} ${of}`);
    if (request.method !== "GET") {
      const error = "shop/web is out of reach of this token, which is limited to apps";
      return Response.json({ status: "error", error }, { status: 403 });
    }
    const spec = { env: { PG_USER: "app", ...marks } };
    const data: Record<string, unknown> = {
      "/apply": [{ kind: "statefulset", scope: "data", name: "main", spec }],
      "/config": { vars },
      "/pods": { pods: [pod] },
    };
    return Response.json({ status: "ok", data: data[pathname] ?? {} });
  },
});
afterAll(() => server.stop(true));
beforeEach(() => void asked.splice(0));

test.each([
  ["a new password of postgres", postgresPassword],
  ["a new password of redis", redisPassword],
  ["a promotion", promotionCommand({ kind: postgresKind, steps: () => ({ promoteMs: 1 }) })],
])("%s changes nothing where its caller may not change the linked apps", async (_, command) => {
  const call = {
    ...{ command: "x", args: ["data/main"], env: {}, progress: () => undefined },
    input: { plugin: "postgres", controller_url: `http://127.0.0.1:${server.port}` },
  };
  await expect((async () => command(call as never))()).rejects.toThrow("shop/web is out of reach of this token");
  expect(asked.filter((text) => !text.startsWith("GET"))).toEqual(["POST /config shop/web"]);
});
