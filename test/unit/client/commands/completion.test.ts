import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { type Call, cli, stored } from "../../../support/cli.ts";
import { folder } from "../../../support/files.ts";
import { verbs } from "../../../../src/client/entry/table.ts";

const all = ["deployment/shop/web", "ingress/shop/web", "statefulset/data/main", "registry//ghcr"].map((key) => {
  const { scope, ...rest } = stored(key);
  return scope === "" ? rest : { scope, ...rest };
});

const server = ({ path }: Call) => (path === "/apply" ? all : undefined);
const words = async (...line: string[]) => {
  const { out, err, code } = await cli(["completion", "words", "--", ...line], { server });
  expect([err, code]).toEqual(["", 0]);
  return out.split("\n").filter((word) => word !== "");
};

describe("completion words", () => {
  test("offers commands, also of the machine", async () => {
    expect(await words("")).toEqual(expect.arrayContaining(["apply", "serve", "help", "plugins"]));
    expect(await words("res")).toEqual(["restart", "restore"]);
    expect(await words("help", "cron")).toEqual(["cron"]);
    expect(await words("--v")).toEqual(["--version"]);
  });

  test("offers narrower commands, kinds, and names that the server has", async () => {
    expect(await words("config", "s")).toEqual(["set"]);
    expect(await words("config", "get", "")).toEqual(["data", "data/main", "shop", "shop/web"]);
    expect(await words("exec", "")).toEqual(["data/main", "shop/web"]);
    expect(await words("get", "stateful")).toEqual(["statefulset"]);
    expect(await words("get", "deployment", "sh")).toEqual(["shop", "shop/web"]);
    expect(await words("identity", "app", "c")).toEqual(["create"]);
  });

  test("offers flags and their values, and looks past those before", async () => {
    expect(await words("apply", "--dry")).toEqual(["--dry-run"]);
    expect(await words("get", "-o", "j")).toEqual(["json"]);
    expect(await words("run", "--kind", "cron")).toEqual(["cronjob"]);
    expect(await words("--endpoint", "http://x:1", "logs", "-f", "--tail", "5", "sh")).toEqual(["shop", "shop/web"]);
  });

  test("leaves files, and the command lines of others, to the shell", async () => {
    expect(await words("apply", "-f", "")).toEqual([]);
    expect(await words("exec", "shop/web", "--", "")).toEqual([]);
    expect(await words("unknown", "")).toEqual([]);
  });

  test("offers remotes and their groups", async () => {
    const remotes = { prod: { host: "a.example.com", groups: ["all"] } };
    using at = folder({ "remotes.json": JSON.stringify({ remotes }) });
    const { out } = await cli(["completion", "words", "--", "get", "-r", ""], {
      server,
      remotesFile: join(at.path, "remotes.json"),
    });
    expect(out).toBe("all\nprod\n");
  });

  test("is silent where the server does not answer", async () => {
    const away = () => {
      throw new Error("connection refused");
    };
    const { out, err, code } = await cli(["completion", "words", "--", "exec", ""], { server: away });
    expect([out, err, code]).toEqual(["", "", 0]);
    const asked = await cli(["completion", "words", "--", "get", ""], { server });
    expect(asked.out).toContain("deployment\n");
  });

  test.each(verbs.map(({ name }) => name))("every word after %s can be asked for", async (name) => {
    expect(Array.isArray(await words(name, ""))).toBe(true);
  });
});

describe("scripts", () => {
  test("of bash are bash", async () => {
    const { out } = await cli(["completion", "bash"]);
    const check = Bun.spawnSync(["bash", "-n"], { stdin: Buffer.from(out) });
    expect([check.stderr.toString(), check.exitCode]).toEqual(["", 0]);
  });

  test("any other shell is wrong usage", async () => {
    for (const argv of [["completion"], ["completion", "tcsh"], ["completion", "bash", "x"]]) {
      expect(await cli(argv)).toMatchObject({ code: 2, err: expect.stringContaining("completion bash, zsh or fish") });
    }
  });
});
