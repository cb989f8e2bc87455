import { describe, expect, test } from "bun:test";
import { type Call, cli, refusal } from "../../../support/cli.ts";

const none = { config_wiped: false, app_dir_removed: false, volume_removed: false, volumes_removed: [], errors: [] };
const leftovers = [
  {
    scope: "shop",
    name: "db",
    kinds: ["statefulset"],
    volumes: ["berth-shop-db-data-0"],
    config_keys: 2,
    folders: ["/opt/berth/apps/shop-db"],
    kept: [],
  },
  { scope: "shop", name: "", kinds: [], volumes: [], config_keys: 0, folders: [], kept: ["b: docker volume rm b"] },
];

function server({ method, path, query }: Call): unknown {
  switch (`${method} ${path}`) {
    case "GET /apply":
      return [];
    case "GET /backups/apps":
      return { apps: [] };
    case "GET /leftovers":
      return { leftovers: leftovers.filter(({ name }) => query.name === undefined || query.name === name) };
    case "DELETE /apply":
      return { pruned: { ...none, volumes_kept: ["data: docker volume rm data"] }, warnings: ["a warning"] };
    case "DELETE /resource":
      return {
        scope: query.scope,
        name: query.name,
        resources_wiped: [{ kind: "statefulset", pruned: none }],
        errors: [],
      };
    default:
      return undefined;
  }
}

const berth = (...argv: string[]) => cli(argv, { server });
const deletes = (calls: Call[]) => calls.filter(({ method }) => method === "DELETE");

test("get leftovers lists them, with the way to remove them", async () => {
  expect((await berth("get", "leftovers", "shop")).out).toBe(
    [
      "shop/db (statefulset)",
      "  volume berth-shop-db-data-0",
      "  2 config keys",
      "  folder /opt/berth/apps/shop-db",
      "  to remove: berth delete shop/db --prune",
      "scope shop",
      "  no prune removes volume b: docker volume rm b",
      "",
    ].join("\n"),
  );
});

describe("delete --prune of what is gone already", () => {
  test.each([
    [["shop/db"], "/resource"],
    [["statefulset", "shop/db"], "/apply"],
  ])("%p shows what is left, and removes it", async (words, path) => {
    const { out, calls, code } = await berth("delete", ...words, "--prune", "-y");
    expect(out).toContain("- what is left of shop/db: volume berth-shop-db-data-0, 2 config keys, folder");
    expect(deletes(calls).map((call) => call.path)).toEqual([path]);
    expect(code).toBe(0);
  });

  test("finds it by file, and tells what is kept and what the server warns of", async () => {
    const stdin = "kind: statefulset\nscope: shop\nname: db\nspec: {image: a}\n";
    const { out, err, calls } = await cli(["delete", "-f", "-", "--prune", "-y"], { server, stdin });
    expect(deletes(calls)).toMatchObject([
      { path: "/apply", query: { kind: "statefulset", name: "db", prune: "true" } },
    ]);
    expect(out).toContain("kept volume data: docker volume rm data");
    expect(err).toContain("warning: a warning");
  });

  test("never says of what is kept that it was deleted", async () => {
    const { out } = await berth("delete", "statefulset", "shop/db", "--prune", "-y");
    expect(out).toContain(
      "deleted what is left of shop/db, except what is kept\nkept volume data: docker volume rm data",
    );
  });

  test("asks nothing without --prune, and of a server that knows no leftovers", async () => {
    expect(deletes((await berth("delete", "statefulset", "shop/db", "-y")).calls)).toEqual([]);
    const older = (call: Call) => (call.path === "/leftovers" ? refusal(404, "no such route") : server(call));
    const { out } = await cli(["delete", "statefulset", "shop/db", "--prune", "-y"], { server: older });
    expect(out).toContain("statefulset/shop/db is not there");
  });
});
