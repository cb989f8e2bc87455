import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { actorHeader } from "../../../src/base/wire/client.ts";
import type { Spec } from "../../../src/orchestration/api/manifest.ts";
import { Release } from "../../../src/orchestration/api/releases.ts";
import { MASK } from "../../../src/orchestration/core/mask.ts";
import { deployment, statefulset } from "../../support/manifests.ts";
import { type Ask, fetchPlane, plane } from "../../support/plane.ts";
import { type World, world } from "../../support/world.ts";

let it: World;
let ask: Ask;
beforeEach(async () => {
  it = await world();
  ask = plane(it);
});
afterEach(() => it.close());

const block = { command: ["migrate"] };
const app = (v: string, spec: Spec = {}) => deployment("shop", "web", { replicas: 2, env: { V: v }, ...spec });
const db = (v: string) => statefulset("shop", "db", { replicas: 2, env: { V: v } });
const root = "scope=shop&name=web";

async function list(query = root): Promise<Release[]> {
  const { data } = await ask(`GET /releases?${query}`);
  expect([...Value.Errors(Type.Array(Release), data.releases)]).toEqual([]);
  return data.releases as Release[];
}

const newest = async () => {
  const [first] = await list();
  if (first === undefined) throw new Error("no release");
  return first;
};

async function deployed(...versions: string[]): Promise<void> {
  for (const version of versions) {
    expect((await ask("POST /apply", app(version))).status).toBe(200);
    await it.settle();
  }
}

const envs = () => it.runtime.containers().flatMap(({ name, env }) => (name.startsWith("shop-web.") ? [env.V] : []));
const command = () => it.containers().find((name) => name.startsWith("shop-web-release.")) ?? "";
/** Lets the command that runs end. */
async function end(exitCode = 0): Promise<void> {
  await it.quiet();
  it.runtime.finish(command(), exitCode);
  await it.quiet();
}

/** Follows a stream in the background. */
async function stream(request: string, init: RequestInit = {}) {
  const response = await fetchPlane(it, request, init);
  const seen = { status: response.status, headers: response.headers, text: "", ended: false };
  void (async () => {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) seen.text += decoder.decode(bytes, { stream: true });
    seen.ended = true;
  })().catch(() => undefined);
  await it.quiet();
  return seen;
}

const lastLine = (text: string) => text.trimEnd().split("\n").at(-1);

describe("GET /releases", () => {
  test("tells what was rolled out, newest first, with the whole spec", async () => {
    await deployed("1", "2");
    const [second, first] = await list();
    expect(second).toMatchObject({ status: "succeeded", cause: "apply", image: "berth-fixture:1" });
    expect(second?.spec_snapshot.env).toEqual({ V: "2" });
    expect([first?.spec_snapshot.env, first?.ended_at !== undefined]).toEqual([{ V: "1" }, true]);
    expect(second?.id).toMatch(/^[0-9a-z]{9}$/);
    expect(second?.image_id).toMatch(/^sha256:/);
    expect(second?.spec_hash).not.toBe(first?.spec_hash);
  });

  test("is what describe shows, too", async () => {
    await deployed("1", "2");
    const { data } = await ask(`GET /describe?kind=deployment&${root}`);
    expect((data.status as { releases: unknown }).releases).toEqual(await list());
  });

  test("is of a statefulset where that is asked for", async () => {
    await ask("POST /apply", db("1"));
    await it.settle();
    expect(await list("kind=statefulset&scope=shop&name=db")).toMatchObject([{ status: "succeeded" }]);
  });

  test("shows no secret of a spec", async () => {
    const hook = { url: "https://hooks.test/x", headers: { Authorization: "Bearer s3cret" } };
    await ask("POST /apply", app("1", { on_deploy: { success: [hook] } }));
    await it.settle();
    const text = JSON.stringify(await list());
    expect(text).not.toContain("s3cret");
    expect(text).toContain(MASK);
  });

  test("keeps ten", async () => {
    await deployed(...Array.from({ length: 12 }, (_, index) => `${index}`));
    expect((await list()).map(({ spec_snapshot }) => (spec_snapshot.env as Spec).V)).toEqual(
      Array.from({ length: 10 }, (_, index) => `${11 - index}`),
    );
  });
});

describe("POST /rollback", () => {
  test("without an id returns to the newest good release of another spec", async () => {
    await deployed("1", "2");
    const [, first] = await list();
    const answer = await ask(`POST /rollback?${root}`, undefined, { [actorHeader]: "ana@laptop" });
    expect(answer.status).toBe(200);
    const { new_release, taken_back, ...rest } = answer.data;
    expect(taken_back).toEqual(["env.V"]);
    expect(rest).toEqual({ scope: "shop", name: "web", kind: "deployment", rolled_back_to: first?.id });
    expect(await newest()).toMatchObject({ id: new_release, cause: "rollback", rolled_back_from: first?.id });
    await it.settle();
    expect(envs()).toEqual(["1", "1"]);
    expect((await newest()).status).toBe("succeeded");
    expect(it.events("release.rollback")).toMatchObject([{ actor: "ana@laptop", name: "web" }]);
  });

  test("twice goes there and back", async () => {
    await deployed("1", "2");
    for (const version of ["1", "2"]) {
      await ask(`POST /rollback?${root}`);
      await it.settle();
      expect(envs()).toEqual([version, version]);
    }
  });

  test("with an id returns to that one, with today's count", async () => {
    await deployed("1", "2", "3");
    await ask("POST /apply", app("3", { replicas: 3 }));
    await it.settle();
    const oldest = (await list()).at(-1);
    const { data } = await ask(`POST /rollback?${root}&release_id=${oldest?.id}`);
    expect(data.rolled_back_to).toBe(oldest?.id);
    await it.settle();
    expect(envs()).toEqual(["1", "1", "1"]);
  });

  test("of a statefulset", async () => {
    for (const version of ["1", "2"]) {
      await ask("POST /apply", db(version));
      await it.settle();
    }
    expect((await ask("POST /rollback?kind=statefulset&scope=shop&name=db")).status).toBe(200);
    await it.settle();
    expect(it.runtime.containers().map(({ env }) => env.V)).toEqual(["1", "1"]);
  });

  test("finds the scope by itself", async () => {
    await deployed("1", "2");
    expect((await ask("POST /rollback?name=web")).data.scope).toBe("shop");
  });

  test("is stored while the engine is away, and happens when it is back", async () => {
    await deployed("1", "2");
    it.runtime.engineDown();
    await it.quiet();
    expect((await ask(`POST /rollback?${root}`)).status).toBe(200);
    it.runtime.engineUp();
    await it.settle();
    expect(envs()).toEqual(["1", "1"]);
  });

  test("runs the commands of the release that it returns to", async () => {
    await ask("POST /apply", app("1", { release: block }));
    await end();
    await it.settle();
    await ask("POST /apply", app("2", { release: block }));
    await end();
    await it.settle();
    await ask(`POST /rollback?${root}`);
    await it.quiet();
    expect((await newest()).status).toBe("pending");
    await end();
    await it.settle();
    expect(envs()).toEqual(["1", "1"]);
  });
});

describe("POST /releases/run", () => {
  async function released(): Promise<void> {
    await ask("POST /apply", app("1", { release: block }));
    await end();
    await it.settle();
  }

  test("streams the output word for word, and ends with how it ended", async () => {
    await released();
    const before = it.containers();
    const seen = await stream(`POST /releases/run?${root}`, { headers: { [actorHeader]: "ana@laptop" } });
    const { id } = await newest();
    expect(seen.status).toBe(200);
    expect(Object.fromEntries(seen.headers)).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "x-berth-scope": "shop",
      "x-berth-name": "web",
      "x-berth-release": id,
    });
    it.runtime.writeLog(command(), "creating table\n");
    await it.quiet();
    expect(seen.text).toBe(`-----> Release ${id}: command\ncreating table\n`);
    await end();
    await it.settle();
    expect(seen.ended).toBe(true);
    expect(seen.text).toBe(
      [
        `-----> Release ${id}: command`,
        "creating table",
        `-----> Release ${id}: rolling restart of 2 replica(s)`,
        `-----> Release ${id} succeeded`,
        "",
      ].join("\n"),
    );
    expect(it.containers().filter((name) => before.includes(name))).toEqual([]);
    expect(await newest()).toMatchObject({ cause: "release_run", status: "succeeded", exit_code: 0 });
    expect(it.events("release.run")).toMatchObject([{ actor: "ana@laptop" }]);
  });

  test("that fails says so in its last line, and touches no replica", async () => {
    await released();
    const before = it.containers();
    const seen = await stream(`POST /releases/run?${root}`);
    await end(5);
    await it.settle().catch(() => undefined);
    expect(seen.ended).toBe(true);
    expect(lastLine(seen.text)).toBe(`-----> Release ${(await newest()).id} failed in command (exit 5)`);
    expect(it.containers()).toEqual(before);
    expect(await newest()).toMatchObject({ status: "failed", exit_code: 5, error: "failed in command (exit 5)" });
  });

  test("whose replicas do not come up says that in its last line", async () => {
    await ask("POST /apply", app("1", { release: block, rollout: { min_ready: "1h", progress_deadline: "30s" } }));
    const seen = await stream(`POST /releases/run?${root}`);
    await end();
    await it.advance(40_000);
    expect(seen.ended).toBe(true);
    expect(lastLine(seen.text)).toMatch(/^-----> Release \w+ failed: ProgressDeadline: /);
  });

  test("joins the release that an apply has begun, for the first who asks", async () => {
    await ask("POST /apply", app("1", { release: block }));
    const { id } = await newest();
    const seen = await stream(`POST /releases/run?${root}`);
    expect([seen.status, seen.headers.get("x-berth-release")]).toEqual([200, id]);
    const second = await ask(`POST /releases/run?${root}`);
    expect([second.status, second.error]).toEqual([
      409,
      `release ${id} of deployment/shop/web is in progress; follow it with follow=true`,
    ]);
    expect(await list()).toHaveLength(1);
  });

  test("is followed by any number of callers", async () => {
    await released();
    const first = await stream(`POST /releases/run?${root}`);
    it.runtime.writeLog(command(), "one\n");
    const second = await stream(`POST /releases/run?${root}&follow=true`);
    it.runtime.writeLog(command(), "two\n");
    await end();
    await it.settle();
    expect(second.text).toBe(first.text);
    expect([second.ended, lastLine(second.text)]).toEqual([true, `-----> Release ${(await newest()).id} succeeded`]);
  });

  test("goes on when the caller leaves", async () => {
    await released();
    const leaving = new AbortController();
    const seen = await stream(`POST /releases/run?${root}`, { signal: leaving.signal });
    leaving.abort();
    await it.quiet();
    await end();
    await it.settle();
    expect((await newest()).status).toBe("succeeded");
    expect(seen.text).not.toContain("succeeded");
  });
});

describe("every documented refusal", () => {
  beforeEach(async () => {
    await it.apply([
      deployment("shop", "web", { env: { V: "1" } }),
      deployment("blog", "web"),
      deployment("shop", "failing", { image: "nowhere:1", rollout: { progress_deadline: "10s" } }),
      statefulset("shop", "db"),
    ]);
    await it.advance(60_000);
  });

  const failing = () => it.store.releases.list({ kind: "deployment", scope: "shop", name: "failing" })[0]?.id;

  test("what is wrong is refused, and changes nothing", async () => {
    const refusals: [string, number][] = [
      ["GET /releases", 400],
      ["GET /releases?scope=shop", 400],
      ["GET /releases?name=web", 400],
      ["GET /releases?kind=job&scope=shop&name=web", 400],
      ["GET /releases?kind=thing&scope=shop&name=web", 400],
      ["GET /releases?scope=shop&name=nobody", 404],
      ["GET /releases?scope=shop&name=db", 404],
      ["POST /rollback", 400],
      ["POST /rollback?name=web", 400],
      ["POST /rollback?kind=job&scope=shop&name=web", 400],
      ["POST /rollback?scope=shop&name=nobody", 404],
      ["POST /rollback?scope=shop&name=web&name=web", 400],
      ["POST /rollback?scope=shop&name=web&release_id=000000000", 404],
      ["POST /rollback?scope=shop&name=web", 409],
      ["POST /rollback?scope=shop&name=failing", 409],
      ["POST /releases/run", 400],
      ["POST /releases/run?name=web", 400],
      ["POST /releases/run?scope=shop&name=nobody", 404],
      ["POST /releases/run?scope=shop&name=db", 404],
      ["POST /releases/run?scope=shop&name=web", 400],
      ["POST /releases/run?scope=shop&name=web&follow=maybe", 400],
    ];
    const before = [it.events().length, it.store.releases.unfinished().length];
    for (const [request, status] of refusals) {
      const answer = await ask(request);
      expect([request, answer.status]).toEqual([request, status]);
      expect(answer.error).toMatch(/[^.]$/);
      expect([request, it.events().length, it.store.releases.unfinished().length]).toEqual([request, ...before]);
    }
  });

  test("a rollback to a release that never was good is 409, and says what to do", async () => {
    const answer = await ask(`POST /rollback?scope=shop&name=failing&release_id=${failing()}`);
    expect([answer.status, answer.error]).toEqual([
      409,
      `release ${failing()} never became ready; choose one that succeeded`,
    ]);
  });

  test("a run without a release block names the way out", async () => {
    const { error } = await ask("POST /releases/run?scope=shop&name=web");
    expect(error).toContain("use restart to roll it");
  });

  test("a run while the engine is away is 503, and begins nothing", async () => {
    await it.apply(deployment("shop", "web", { release: block }));
    await it.quiet();
    it.runtime.finish(command(), 0);
    await it.advance(60_000);
    it.runtime.engineDown();
    await it.quiet();
    const before = await list();
    const answer = await ask(`POST /releases/run?${root}`);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(await list()).toEqual(before);
  });
});

describe("POST /apply with atomic", () => {
  test("tells an id, by which GET /applies says what became of it", async () => {
    const answer = await ask("POST /apply?atomic=true", [deployment("shop", "web"), deployment("shop", "api")]);
    const { atomic } = answer.data as { atomic: string };
    expect((await ask(`GET /applies/${atomic}`)).data).toMatchObject({
      id: atomic,
      state: "waiting",
      resources: [
        { ref: "deployment/shop/web", action: "created" },
        { ref: "deployment/shop/api", action: "created" },
      ],
    });
    await it.settle();
    await it.advance(1_000);
    expect((await ask(`GET /applies/${atomic}`)).data).toMatchObject({
      state: "kept",
      resources: [{ outcome: "kept" }, {}],
    });
    expect((await ask("GET /applies/apply-none")).status).toBe(404);
    expect((await ask("POST /apply?atomic=yes", deployment("shop", "web"))).status).toBe(400);
    expect((await ask("POST /apply", deployment("shop", "web"))).data).not.toHaveProperty("atomic");
  });
});
