import { expect, test } from "bun:test";
import { pickFiles } from "../../../../src/ui/text/picked-files.ts";

const file = (path: string, text = "") => ({ webkitRelativePath: `shop/${path}`, text: () => Promise.resolve(text) });
const paths = async (files: ReturnType<typeof file>[]) => {
  const { files: chosen, secrets, left } = await pickFiles(files);
  return { sent: chosen.map(({ path }) => path), secrets, left };
};

test("what a browser sends leaves out what berth and .gitignore leave out, and names the secrets", async () => {
  const files = [
    file(".gitignore", "dist\n*.log\n"),
    file("server.js"),
    file("debug.log"),
    file("dist/a.js"),
    file("api/.gitignore", "out/\n"),
    file("api/out/b.js"),
    file("api/main.js"),
    file("node_modules/x/index.js"),
    file(".git/config"),
    file(".env"),
    file(".env.example"),
    file(".berth/web.yaml"),
  ];
  expect(await paths(files)).toEqual({
    sent: [".gitignore", "server.js", "api/.gitignore", "api/main.js", ".env.example", ".berth/web.yaml"],
    secrets: [".env"],
    left: 5,
  });
});

test("with a .dockerignore the server decides what git ignores", async () => {
  const files = [file(".dockerignore", "x"), file(".gitignore", "dist"), file("dist/a.js"), file("id_rsa")];
  expect((await paths(files)).sent).toEqual([".dockerignore", ".gitignore", "dist/a.js"]);
});
