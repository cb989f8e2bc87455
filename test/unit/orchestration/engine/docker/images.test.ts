import { afterEach, describe, expect, test } from "bun:test";
import { naming } from "../../../../../src/orchestration/core/naming.ts";
import { createDockerEngine } from "../../../../../src/orchestration/engine/docker/docker.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { type Answer, type FakeEngine, refuse, sendJson, startFakeEngine } from "../../../../support/fake-engine.ts";

let fake: FakeEngine;
afterEach(() => fake.close());

const runtimeOn = async (answer: Answer, timeouts = {}) => {
  fake = await startFakeEngine(answer);
  return createDockerEngine({ host: fake.host, installationId: "i1", names: naming("berth"), timeouts });
};
const sha = `sha256:${"ab".repeat(32)}`;
const image = {
  Id: sha,
  RepoTags: ["nginx:1", "<none>:<none>"],
  RepoDigests: [`nginx@${sha}`, "<none>@<none>"],
  Size: 5,
  Created: "2024-05-01T10:00:00Z",
  Config: { Env: ["PATH=/bin"], Entrypoint: null, Cmd: ["nginx"], Labels: { a: "b" } },
};
/** A pull that succeeds with these progress rows. */
const pulling =
  (...rows: object[]): Answer =>
  (request, response) => {
    if (request.path !== "/images/create") return sendJson(response, 200, image);
    response.writeHead(200).end(rows.map((row) => `${JSON.stringify(row)}\r\n`).join(""));
  };

describe("pull", () => {
  test.each([
    ["nginx", "nginx", "latest", "/images/nginx:latest/json"],
    ["localhost:5000/team/app:1", "localhost:5000/team/app", "1", "/images/localhost:5000/team/app:1/json"],
    [`nginx:1@${sha}`, "nginx", sha, `/images/nginx@${sha}/json`],
  ])("%s asks for exactly that, and looks at what came", async (ref, fromImage, tag, inspected) => {
    const runtime = await runtimeOn(pulling({ status: "Pulling" }));
    expect(await runtime.pull(ref, undefined)).toEqual({
      id: sha,
      tags: ["nginx:1"],
      digests: [`nginx@${sha}`],
      sizeBytes: 5,
      createdAt: Date.UTC(2024, 4, 1, 10),
      env: { PATH: "/bin" },
      entrypoint: [],
      command: ["nginx"],
      labels: { a: "b" },
    });
    const [create, inspect] = fake.requests;
    expect(Object.fromEntries(create?.query ?? [])).toEqual({ fromImage, tag });
    expect(create?.headers["x-registry-auth"]).toBeUndefined();
    expect(inspect?.path).toBe(inspected);
  });

  test("sends credentials in the header, nowhere else", async () => {
    const runtime = await runtimeOn(pulling());
    await runtime.pull("r.example/a", { username: "ana", password: "s3cr?>t", serverAddress: "r.example" });
    const [create] = fake.requests;
    const header = String(create?.headers["x-registry-auth"]);
    expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual({
      username: "ana",
      password: "s3cr?>t",
      serveraddress: "r.example",
    });
    expect(`${create?.url} ${create?.body}`).not.toContain("s3cr");
  });

  test("finds the error in the last row of a stream that began well", async () => {
    const runtime = await runtimeOn(
      pulling({ status: "Pulling" }, { errorDetail: { message: "x" }, error: "toomanyrequests: slow down" }),
    );
    const failure = await expectFailure(runtime.pull("nginx", undefined), "conflict", "ImagePull");
    expect(failure.message).toBe('cannot pull image "nginx": toomanyrequests: slow down');
  });

  test("passes on a refusal before the stream, and a connection cut within", async () => {
    const refused = await runtimeOn((_request, response) => refuse(response, 404, "manifest unknown"));
    await expectFailure(refused.pull("nginx", undefined), "conflict", "ImagePull");
    await fake.close();
    const cut = await runtimeOn((_request, response) => {
      response.writeHead(200);
      response.write('{"status":"Pulling"}\n');
      setTimeout(() => response.destroy(), 5);
    });
    await expectFailure(cut.pull("nginx", undefined), "unavailable", "EngineUnavailable");
  });

  test("may take long while there is progress, and ends when there is none", async () => {
    const dropped = Promise.withResolvers<void>();
    const runtime = await runtimeOn(
      async (request, response) => {
        if (request.path !== "/images/create") return sendJson(response, 200, image);
        response.on("close", dropped.resolve);
        response.writeHead(200);
        for (let row = 0; row < 6; row++) {
          response.write('{"status":"Downloading"}\n');
          await Bun.sleep(500);
        }
        if (request.query.get("tag") === "ends") response.end();
      },
      { callMs: 1_000, pullIdleMs: 2_000 },
    );
    expect((await runtime.pull("nginx:ends", undefined)).id).toBe(sha);
    const failure = await expectFailure(runtime.pull("nginx:hangs", undefined), "timeout", "Timeout");
    expect(failure.message).toContain("within 2 s");
    await dropped.promise;
  });

  test("of one image at the same time is asked for once; with other credentials it is another", async () => {
    const runtime = await runtimeOn(pulling());
    const auth = { username: "ana", password: "x", serverAddress: "docker.io" };
    await Promise.all([
      runtime.pull("nginx", undefined),
      runtime.pull("docker.io/library/nginx:latest", undefined),
      runtime.pull("nginx", auth),
    ]);
    expect(fake.requests.filter(({ path }) => path === "/images/create")).toHaveLength(2);
  });

  test("of an image that is gone again says so", async () => {
    const runtime = await runtimeOn((request, response) => {
      if (request.path !== "/images/create") return refuse(response, 404, "No such image");
      response.writeHead(200).end();
    });
    await expectFailure(runtime.pull("nginx", undefined), "conflict", "ImageMissing");
  });
});

test("listImages drops what has no name", async () => {
  const row = { Id: sha, RepoTags: ["<none>:<none>"], RepoDigests: null, Size: 7, Created: 10 };
  const runtime = await runtimeOn((_request, response) => sendJson(response, 200, [row]));
  expect(await runtime.listImages()).toEqual([
    {
      id: sha,
      tags: [],
      digests: [],
      sizeBytes: 7,
      createdAt: 10_000,
      env: {},
      entrypoint: [],
      command: [],
      labels: {},
    },
  ]);
});
