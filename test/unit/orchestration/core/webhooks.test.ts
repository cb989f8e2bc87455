import { describe, expect, test } from "bun:test";
import type { Spec } from "../../../../src/orchestration/api/manifest.ts";
import { decodeWebhooks } from "../../../../src/orchestration/core/spec/webhooks.ts";
import { draftWebhooks, webhookLists, webhookTemplates } from "../../../../src/orchestration/core/webhooks.ts";
import { shownUrl } from "../../../../src/base/pure/shown-url.ts";

const payload = { kind: "deployment", name: "web", status: "failure", error: 'no "x"\nat\tline 2 – ü' };
const reference = "$" + "{asset.hooks.body}";

function draft(hook: Spec, templates: Record<string, string> = {}, bodyBytesMax = 10_000) {
  const made = draftWebhooks({
    event: "deploy.failure",
    hooks: decodeWebhooks([{ url: "https://a.test/x", ...hook }]),
    payload,
    templates: new Map(Object.entries(templates)),
    bodyBytesMax,
  });
  const [first] = made;
  if (first === undefined) throw new Error("nothing was drafted");
  return first;
}

describe("a webhook as written", () => {
  test("alone posts the whole payload as JSON", () => {
    expect(draft({})).toEqual({
      event: "deploy.failure",
      url: "https://a.test/x",
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(payload),
      problem: undefined,
    });
  });

  test("keeps its method and headers; its own content type wins in any spelling", () => {
    const { method, headers } = draft({ method: "PUT", headers: { "content-TYPE": "text/x", A: "b" } });
    expect(method).toBe("PUT");
    expect(headers).toEqual({ "content-TYPE": "text/x", A: "b" });
  });

  test("has tokens in its body filled at any depth; the body stays JSON whatever the values hold", () => {
    const { body } = draft({ body: { text: "{{name}}: {{ error }}", deep: [{ "{{kind}}": "{{status}}" }], n: 1 } });
    expect(JSON.parse(body)).toEqual({
      text: `web: ${payload.error}`,
      deep: [{ deployment: "failure" }],
      n: 1,
    });
  });

  test("leaves unknown tokens, and names of the language, as they stand", () => {
    const text = "{{nope}} {{constructor}} {{__proto__}} {{Name}} {name} {{}}";
    expect(JSON.parse(draft({ body: { text } }).body)).toEqual({ text });
  });

  test("a value is never filled again", () => {
    const made = draftWebhooks({
      event: "deploy.failure",
      hooks: decodeWebhooks([{ url: "https://a.test/", body: { text: "{{error}}" } }]),
      payload: { error: "{{name}}", name: "web" },
      templates: new Map(),
      bodyBytesMax: 1_000,
    });
    expect(JSON.parse(made[0]?.body ?? "")).toEqual({ text: "{{name}}" });
  });

  test("has tokens in its headers filled, without a way to begin another header", () => {
    expect(draft({ headers: { "X-Error": "e={{error}}" } }).headers["X-Error"]).toBe('e=no "x" at line 2 ? ?');
  });

  test("one draft each, in order", () => {
    const hooks = decodeWebhooks([{ url: "https://a.test/" }, { url: "https://b.test/" }]);
    const made = draftWebhooks({ event: "probe.failure", hooks, payload, templates: new Map(), bodyBytesMax: 1_000 });
    expect(made.map(({ url, event }) => [url, event])).toEqual([
      ["https://a.test/", "probe.failure"],
      ["https://b.test/", "probe.failure"],
    ]);
  });
});

describe("a body from an asset", () => {
  test("that is JSON keeps its form and stays JSON", () => {
    const { body, headers } = draft({ file: reference }, { [reference]: '{ "t": "{{error}}",\n "v": 1.0 }' });
    expect(body).toStartWith('{ "t": "no ');
    expect(body).toEndWith(',\n "v": 1.0 }');
    expect(JSON.parse(body).t).toBe(payload.error);
    expect(headers["Content-Type"]).toBe("application/json");
  });

  test("that is text is filled as it stands", () => {
    const { body, headers } = draft({ file: reference }, { [reference]: "{{name}} failed: {{error}}\n" });
    expect(body).toBe(`web failed: ${payload.error}\n`);
    expect(headers["Content-Type"]).toBe("text/plain; charset=utf-8");
  });

  test("that is not here is a problem that names it", () => {
    const { problem } = draft({ file: reference });
    expect(problem).toBe(`the file "${reference}" is not here; apply the asset, or see why it fails`);
  });

  test("is looked for in the own scope, then among unscoped ones; with a scope only there", () => {
    const scoped = "$" + "{asset.data.hooks.body}";
    const found = webhookTemplates(
      decodeWebhooks([reference, scoped, "plain", 7].map((file) => ({ url: "u", file }))),
      "shop",
    );
    expect([...found]).toEqual([
      [
        reference,
        [
          { scope: "shop", name: "hooks", key: "body" },
          { scope: "", name: "hooks", key: "body" },
        ],
      ],
      [scoped, [{ scope: "data", name: "hooks", key: "body" }]],
    ]);
  });
});

test("a body that is too large after filling is a problem, measured in bytes", () => {
  const body = { t: "üü" };
  const size = new TextEncoder().encode(JSON.stringify(body)).length;
  expect(draft({ body }, {}, size).problem).toBeUndefined();
  expect(draft({ body }, {}, size - 1)).toMatchObject({
    body: "",
    problem: `the body is larger than ${size - 1} bytes`,
  });
});

describe("lists", () => {
  test("are read leniently: what is of the wrong type is not there", () => {
    const good = { url: "https://a.test/" };
    const success = (on_deploy: unknown) =>
      webhookLists("deployment", { on_deploy }).find(({ path }) => path === "on_deploy.success")?.hooks;
    expect(success({ success: [good, "x", { url: 7 }, {}] })).toEqual(decodeWebhooks([good]));
    for (const on_deploy of [undefined, null, 3, [], { success: 4 }, { failure: [good] }]) {
      expect(success(on_deploy)).toEqual([]);
    }
  });
});

test.each([
  ["https://user:secret@a.test/x?y=1", "https://a.test/x?y=1"],
  ["https://a.test", "https://a.test/"],
  ["not an address", ""],
])("%s is shown as %s", (url, shown) => expect(shownUrl(url)).toBe(shown));
