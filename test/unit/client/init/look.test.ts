// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Dockerfiles hold such text
import { expect, test } from "bun:test";
import { treeOf } from "../../../support/source-tree.ts";
import { lookAt } from "../../../../src/client/init/look.ts";

const look = (files: Record<string, string>) => lookAt(treeOf(files));
const found = (files: Record<string, string>) => {
  const result = look(files);
  if (!result.ok) throw new Error(result.problem);
  return result.findings;
};

test.each([
  ["FROM x\nEXPOSE 8080\n", 8080],
  ["FROM a\nEXPOSE 1\nFROM b\n  expose 9000/tcp 9001\n", 9000],
  ["FROM x\nEXPOSE 8080\nEXPOSE 9090\n", 8080],
  ["FROM x\nEXPOSE ${PORT}\n", undefined],
  ["FROM x\nENV A=1 PORT=5000\nEXPOSE $PORT\n", 5000],
  ["FROM x\nEXPOSE ${PORT:-5001}\n", 5001],
  ['FROM x\nCMD ["gunicorn", "--bind", "0.0.0.0:5002", "a:b"]\n', 5002],
  ["FROM x\nCMD uvicorn a:b --port 5003\n", 5003],
  ["FROM x\nENV PORT 5004\nCMD node a.js\n", 5004],
  ["FROM node:22 AS build\nRUN a\nFROM nginx:alpine\nCOPY --from=build /a /b\n", 80],
  ["FROM php:8.3-fpm\n", undefined],
  ["FROM x\nEXPOSE 53/udp\n", undefined],
  ["FROM x\nEXPOSE 70000\n", undefined],
  ["FROM x\n", undefined],
])("the port of %j is %p", (dockerfile, port) => {
  expect(found({ Dockerfile: dockerfile, "package.json": "{}" })).toMatchObject({ source: "Dockerfile", port });
});

test("what is not sure of the port of a Dockerfile is said", () => {
  expect(found({ Dockerfile: "FROM x\nEXPOSE 8080 9090\n" }).notes.join()).toContain("8080 is the one of the web");
  expect(found({ Dockerfile: "FROM nginx\n" }).notes.join()).toContain(
    "listens on 80, as the Dockerfile has no EXPOSE",
  );
  expect(found({ Dockerfile: "FROM x\nEXPOSE 8080\n" }).notes).toEqual([]);
});

test.each([
  ["node (package.json)", 3000, { "package.json": "{}", "server.js": "" }],
  ["go (go.mod)", 8080, { "go.mod": "go 1.22\n", "main.go": "package main\nhttp.ListenAndServe" }],
  ["ruby (Gemfile, rails)", 3000, { Gemfile: "", "config/application.rb": "" }],
  ["static (public/index.html)", 80, { "public/index.html": "" }],
])("%s listens on %p", (source, port, files: Record<string, string>) => {
  expect(found(files)).toMatchObject({ source, port });
});

test("a folder that cannot be built says what to do", () => {
  expect(look({ "notes.txt": "" })).toEqual({ ok: false, problem: expect.stringContaining("write a Dockerfile") });
});

test("an env file of samples comes before the one with values; names only", () => {
  const files = { Dockerfile: "", ".env": "A=secret", ".env.example": "B=\nC=x\n" };
  expect(found(files).env).toEqual({ file: ".env.example", keys: ["B", "C"] });
  expect(found({ Dockerfile: "", ".env": "A=secret" }).env).toEqual({ file: ".env", keys: ["A"] });
  expect(found({ Dockerfile: "", ".env": "# nothing\n" }).env).toBeUndefined();
});
