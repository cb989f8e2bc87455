import { expect, test } from "bun:test";
import { type Call, cli } from "../../../support/cli.ts";

const stdin = "kind: deployment\nscope: shop\nname: web\nspec: { image: a }\n";
const own = { kind: "deployment", app: "shop/web", beside: false };
const rehearsed = async (apps: object[], ...flags: string[]) => {
  let looks = 0;
  const server = ({ method }: Call) => {
    if (method === "POST") return { id: "a1", apps: ["shop/web"], left_out: [] };
    looks += 1;
    const [ended, left] = [
      looks > 1 ? { ended_at: "2026-11-29T12:00:00Z" } : {},
      [{ ref: "job/shop/a", why: "no app" }],
    ];
    const one = { id: "a1", actor: "ann", started_at: "2026-11-29T12:00:00Z", apps, left_out: left };
    return { rehearsals: [{ ...one, ...ended }] };
  };
  return cli(["rehearse", "-f", "-", ...flags], { stdin, server });
};

test("each app in a line, those of the files first; what is left out says why", async () => {
  const beside = { kind: "statefulset", app: "shop/db", beside: true, result: "passed", seconds: 2 };
  const passed = {
    ...own,
    result: "passed",
    seconds: 4.2,
    data_age_seconds: 5_400,
    release: { exit_code: 0, output: "" },
  };
  const { out, code, calls } = await rehearsed([beside, passed]);
  expect(out.trimEnd().split("\n")).toEqual([
    "shop/web  passed: its release command passed, ready in 4.2 s, on data that was 1h30m old",
    "shop/db (beside it)  passed: ready in 2 s",
    "job/shop/a  not rehearsed: no app",
  ]);
  expect(code).toBe(0);
  expect(calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
    "POST /rehearsals",
    "GET /rehearsals",
    "GET /rehearsals",
  ]);
  expect(calls[0]?.body).toMatchObject([{ kind: "deployment", name: "web" }]);
});

test.each<[string, object, string, number]>([
  ["failed", { result: "failed", why: "exit code 3\x1b[2J" }, "shop/web  failed: exit code 3", 1],
  [
    "could not be tried",
    { result: "not_rehearsed", why: "it is privileged" },
    "shop/web  not rehearsed: it is privileged",
    1,
  ],
  [
    "has no check",
    { result: "started", seconds: 1 },
    "shop/web  started: it has no check that could prove it; up in 1 s",
    0,
  ],
  [
    "had no copy",
    { result: "passed", empty: ["shop/web/files"] },
    "shop/web  passed: ready, with nothing in shop/web/files: there is no copy",
    0,
  ],
])("an app that %s: words and exit code", async (_, row, line, wanted) => {
  const { out, err, code } = await rehearsed([{ ...own, ...row }]);
  expect([out.split("\n")[0], code]).toEqual([expect.stringContaining(line), wanted]);
  expect(out).not.toContain("\x1b");
  if (wanted === 1) expect(err).toContain("1 of 1 apps did not pass; nothing was changed");
});

test("-o json is the record", async () => {
  const { out } = await rehearsed([{ ...own, result: "passed" }], "-o", "json");
  expect(JSON.parse(out)).toMatchObject({ data: { id: "a1", apps: [{ app: "shop/web", result: "passed" }] } });
});
