import { describe, expect, test } from "bun:test";
import { cli } from "../../../support/cli.ts";

const delivery = {
  id: "l8x2k1abc:success:0",
  event: "deploy.success",
  method: "POST",
  url: "https://hooks.test/in",
  headers: { Authorization: "********" },
  body_bytes: 120,
  status: "delivered",
  attempts: 2,
  created_at: "2026-01-01T00:00:00.000Z",
  last_result: "status 204",
};
const { last_result: _, ...waiting } = { ...delivery, status: "waiting", attempts: 0, event: "probe.failure" };

const server = () => ({ deliveries: [waiting, delivery] });

describe("hooks list", () => {
  test("asks for one resource and shows what became of its calls", async () => {
    const { out, calls, code } = await cli(["hooks", "list", "shop/web"], { server });
    expect(code).toBe(0);
    expect(calls).toMatchObject([{ method: "GET", path: "/hooks/deliveries", query: { scope: "shop", name: "web" } }]);
    const [head, first, second] = out.split("\n");
    expect(head?.split(/ {2,}/)).toEqual(["TIME", "EVENT", "STATUS", "TRIES", "RESULT", "CALL"]);
    expect(first).toContain("probe.failure   waiting    0      -           POST https://hooks.test/in");
    expect(second).toContain("deploy.success  delivered  2      status 204  POST https://hooks.test/in");
  });

  test("passes kind and limit on, in the colon form too", async () => {
    const { calls } = await cli(["hooks:list", "statefulsets/shop/db", "-n", "3"], { server });
    expect(calls[0]?.query).toEqual({ kind: "statefulset", scope: "shop", name: "db", limit: "3" });
  });

  test("says when there are none; -o json is the answer itself", async () => {
    expect((await cli(["hooks", "list", "web"], { server: () => ({ deliveries: [] }) })).out).toBe(
      "no webhook calls\n",
    );
    const { out } = await cli(["hooks", "list", "web", "-o", "json"], { server });
    expect(JSON.parse(out)).toEqual({ status: "ok", data: server() });
  });

  test.each([[["hooks"]], [["hooks", "list"]], [["hooks", "list", "a", "b"]], [["hooks", "show", "a"]]])(
    "%p is a usage error",
    async (argv) => {
      const { code, err, calls } = await cli(argv, { server });
      expect([code, calls]).toEqual([2, []]);
      expect(err).toContain("hooks list SCOPE/NAME");
    },
  );
});

test("hooks secret is of the machine itself: it is given its words, and no server is asked", async () => {
  expect(await cli(["hooks", "secret", "--root", "/r"])).toMatchObject({ code: 2, calls: [] });
  expect(await cli(["hooks", "secret"])).toMatchObject({ code: 0, calls: [] });
  expect(await cli(["hooks:secret"])).toMatchObject({ code: 0, calls: [] });
});
