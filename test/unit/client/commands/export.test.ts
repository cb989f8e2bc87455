import { describe, expect, test } from "bun:test";
import { parseAllDocuments } from "yaml";
import { type Call, cli, refusal, stored } from "../../../support/cli.ts";
import { folder } from "../../../support/files.ts";

const manifests = [
  stored("deployment/shop/web", { image: "web:1", ports: ["80"], ulimits: { nofile: "1" } }),
  stored("ingress/shop/web", { host: "shop.example" }),
];
const server = ({ path, query }: Call) => {
  if (path !== "/apply") return refusal(404, "nothing");
  return manifests.filter(({ kind, scope, name }) => {
    const matches = (field: string, value: string) => query[field] === undefined || query[field] === value;
    return matches("kind", kind) && matches("scope", scope) && matches("name", name);
  });
};
const kinds = (text: string) => {
  return (parseAllDocuments(text) as { toJS(): { kind: string } }[]).map((document) => document.toJS().kind);
};

describe("export", () => {
  test("what the server has stored, and what of it is lost", async () => {
    const { code, out, err } = await cli(["export", "kubernetes", "shop"], { server });
    expect(code).toBe(0);
    expect(kinds(out)).toEqual(["Namespace", "Deployment", "Service", "Ingress"]);
    expect(err).toBe(
      "deployment/shop/web: spec.ulimits: has no counterpart: the container runtime of the node sets them\n" +
        "values of berth config are not exported; see: berth config list SCOPE/NAME\n",
    );
    expect(kinds((await cli(["export", "kubernetes", "ingress/shop/web"], { server })).out)).toEqual([
      "Namespace",
      "Ingress",
    ]);
    const json = JSON.parse((await cli(["export", "compose", "-o", "json"], { server })).out).data;
    expect(json.documents[0].services.web.image).toBe("web:1");
    expect(json.losses).toHaveLength(1);
  });

  test("files, without a server; what a Compose file says comes back", async () => {
    const text = "kind: app\nscope: shop\nname: web\nspec:\n  image: x\n  host: a.test\n  ports: ['8080:80']\n";
    using place = folder({ "a.yaml": `${text}---\nkind: postgres\nscope: shop\nname: db\n` });
    const { path: cwd } = place;
    const exported = await cli(["export", "compose", "-f", "a.yaml"], { cwd });
    expect([exported.code, exported.calls]).toEqual([0, []]);
    expect(exported.err).toStartWith("postgres/shop/db: is of a plugin's kind");
    const back = await cli(["import", "compose", "-"], { cwd, stdin: exported.out });
    expect(back.out).toContain("scope: shop\nname: web\nspec:\n  image: x\n  ports:\n    - 127.0.0.1:8080:80\n");
    const wrong = await cli(["export", "compose", "-f", "-"], { stdin: text.replace("image", "imag") });
    expect(wrong).toMatchObject({ code: 1, err: expect.stringMatching(/^stdin:5:3: spec\.imag: unknown field/) });
  });

  test.each([
    [["compose", "other"], 1, "error: "],
    [["compose", "a", "b"], 2, 'error: "b" is one word too many: name one scope or resource'],
    [["compose", "shop", "-f", "x"], 2, 'error: "shop" and -f exclude each other'],
    [["swarm"], 2, 'error: unknown command "export swarm"; there are compose, kubernetes'],
  ])("%p ends with %p", async (words, code, err) => {
    const outcome = await cli(["export", ...words], { server });
    expect(outcome.code).toBe(code);
    expect(outcome.err).toStartWith(err);
  });
});
