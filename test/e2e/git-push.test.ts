import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { executable } from "../support/executable.ts";
import { type Laptop, laptop } from "../support/pushes.ts";
import { type Rig, rig } from "../support/rig.ts";
import { type Sshd, startSshd } from "../support/sshd.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

let berth: Rig;
let sshd: Sshd;
let ana: Laptop;
beforeAll(async () => {
  [berth, sshd] = await Promise.all([rig(), startSshd()]);
  ana = await laptop(berth.root);
});
afterAll(async () => {
  const images = berth.docker(["image", "ls", "-q", "--filter", `label=${berth.prefix}.build`]).split("\n");
  await berth.close();
  await sshd[Symbol.asyncDispose]();
  for (const image of new Set(images)) if (image !== "") berth.docker(["image", "rm", "-f", image]);
  ana[Symbol.dispose]();
});

const push = (...words: string[]) => ana.git("push", "berth", ...words);
const page = async () => {
  const [pod] = await berth.pods("shop", "web");
  return berth.docker(["exec", pod?.name ?? "", "cat", "/www/index.html"]).trim();
};
const refs = async () => (await ana.git("ls-remote", "berth")).stdout;

const manifest =
  "kind: deployment\nscope: shop\nname: web\nspec:\n  build: {}\n  stop_grace: 1s\n  rollout: { min_ready: 0s }\n";
const dockerfile =
  'FROM berth-fixture:1\nCOPY page.html /www/index.html\nRUN echo "step $(cat /www/index.html)"\nCMD ["httpd", "-f", "-h", "/www"]\n';

test("git push over ssh builds and deploys the branch, and streams the log back", async () => {
  ana.write({ "berth.yaml": manifest, Dockerfile: dockerfile, "page.html": "one\n" });
  const commit = await ana.commit("the first page");
  await ana.git("remote", "set-url", "berth", `ssh://root@127.0.0.1:${sshd.port}/shop`);
  await ana.git("config", "core.sshCommand", `ssh -F ${sshd.clientConfig}`);
  const pushed = await ana.git("-c", "protocol.version=2", "push", "--set-upstream", "berth", "main");
  expect(pushed).toMatchObject({ exitCode: 0 });
  expect(pushed.stderr).toContain("remote: step one");
  expect(pushed.stderr).toContain(`remote: deployed main ${commit.slice(0, 12)}`);
  expect(await page()).toBe("one");
  const releases = await berth.cli(["releases", "shop/web"]);
  expect(releases.stdout).toContain(`git push main ${commit.slice(0, 12)}: the first page`);
});

test("a push whose build fails is refused, and the branch stays where it was", async () => {
  const before = await refs();
  ana.write({ Dockerfile: dockerfile.replace("RUN", "RUN echo broken && false &&") });
  await ana.commit("a broken build");
  const refused = await push("main");
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("the build of shop/web failed");
  expect(refused.stderr).toContain("[remote rejected] main -> main (pre-receive hook declined)");
  expect([await page(), await refs()]).toEqual(["one", before]);
});

test("a push whose rollout fails is refused, and the version before runs", async () => {
  // Only here: a busy machine takes longer than this to start what runs well.
  const hasty = manifest.replace("min_ready: 0s", "min_ready: 0s, progress_deadline: 3s");
  ana.write({
    "berth.yaml": hasty,
    Dockerfile: dockerfile.replace(/CMD.*/, 'CMD ["false"]'),
    "page.html": "two\n",
  });
  await ana.commit("a program that ends");
  const refused = await push("main");
  expect(refused.stderr).toContain("remote: the push is refused, and the branch stays where it was");
  expect([refused.exitCode, await page()]).toEqual([1, "one"]);
  const repository = join(berth.root, "repositories/shop.git");
  expect(readdirSync(repository).filter((name) => name.startsWith("berth"))).toEqual([]);
});

test("another branch and a tag are stored; the branch that runs cannot be deleted", async () => {
  ana.write({ "berth.yaml": manifest, Dockerfile: dockerfile, "page.html": "three\n" });
  await ana.commit("the third page");
  const stored = await push("HEAD:feature", "HEAD:refs/tags/v3");
  expect([stored.exitCode, stored.stderr]).toEqual([0, expect.stringContaining("no app here has preview settings")]);
  const refused = await push(":main");
  expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("main is what runs")]);
  expect((await push(":feature")).exitCode).toBe(0);
  expect(await page()).toBe("one");
  expect((await push("main")).exitCode).toBe(0);
  expect(await page()).toBe("three");
});

test("a repository that reaches out of itself is refused, and leaves nothing behind", async () => {
  const before = [await page(), await refs()];
  await ana.git("checkout", "-q", "-b", "hostile");
  symlinkSync("/etc/shadow", join(ana.path, "leak"));
  await ana.commit("a link");
  const linked = await push("HEAD:main");
  expect([linked.exitCode, linked.stderr]).toEqual([1, expect.stringContaining("leads to")]);
  rmSync(join(ana.path, "leak"));
  ana.write({ "berth.yaml": `${manifest}  env_file: ../../../../state.db\n` });
  await ana.commit("a file of the server");
  expect((await push("HEAD:main")).stderr).toContain("leads out of the folder that is deployed");
  ana.write({ "berth.yaml": manifest.replace("scope: shop", "scope: blog") });
  await ana.commit("another scope");
  expect((await push("HEAD:main")).stderr).toContain('deploys the scope "shop" alone, and this is of "blog"');
  await ana.git("checkout", "-q", "main");
  expect([await page(), await refs()]).toEqual(before as [string, string]);
  const left = readdirSync(join(berth.root, "repositories/shop.git")).filter((name) => name.startsWith("berth"));
  expect(left).toEqual([]);
});

test("what was pushed can be cloned", async () => {
  const receive = `${executable} upload-pack --root ${berth.root}`;
  const cloned = await ana.git("clone", "-q", "-u", receive, `ssh://root@127.0.0.1:${sshd.port}/shop`, "../copy");
  expect([cloned.exitCode, cloned.stderr]).toEqual([0, ""]);
  expect((await ana.git("-C", "../copy", "log", "-1", "--format=%s")).stdout).toBe("the third page\n");
});

test("pointers of Git LFS in a push are named, with what to do", async () => {
  ana.write({ "media/film.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n" });
  await ana.commit("a film in Git LFS");
  const pushed = await push("main");
  expect(pushed.exitCode).toBe(0);
  expect(pushed.stderr).toMatch(
    /remote: .*only the Git LFS pointers are sent of media\/film\.bin; to send the files, run "git lfs pull"/,
  );
  rmSync(join(ana.path, "media"), { recursive: true });
  await ana.commit("without the film");
  expect((await push("main")).exitCode).toBe(0);
});

test("a rewritten branch deploys with --force, and so does one from a clone without the history", async () => {
  ana.write({ "page.html": "rewritten\n" });
  await ana.git("add", "-A", "-f");
  await ana.git("commit", "-q", "--amend", "-m", "rewritten");
  expect(await push("main")).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("non-fast-forward") });
  expect(await push("--force", "main")).toMatchObject({ exitCode: 0 });
  expect(await page()).toBe("rewritten");
  ana.write({ "page.html": "shallow\n" });
  await ana.commit("from CI");
  const shallow = join(dirname(ana.path), "shallow");
  await ana.git("clone", "-q", "--depth", "1", `file://${ana.path}`, shallow);
  const there = (...words: string[]) => ana.git("-C", shallow, ...words);
  expect((await there("rev-list", "--count", "HEAD")).stdout.trim()).toBe("1");
  const url = (await ana.git("remote", "get-url", "berth")).stdout.trim();
  const path = (await ana.git("config", "remote.berth.receivepack")).stdout.trim();
  const ssh = (await ana.git("config", "core.sshCommand")).stdout.trim();
  const pushed = await there("-c", `core.sshCommand=${ssh}`, "push", "--force", `--receive-pack=${path}`, url, "main");
  expect(pushed).toMatchObject({ exitCode: 0 });
  expect(pushed.stderr).not.toContain("rejected");
  expect(await page()).toBe("shallow");
  expect((await push("main")).stderr).toContain("Everything up-to-date");
});

test("the branch that deploys is a setting of the repository", async () => {
  const branch = (...words: string[]) => berth.cli(["git-branch", "shop", ...words, "--root", berth.root]);
  expect((await branch()).stdout).toBe("a push of main to shop is deployed\n");
  expect((await branch("a..b")).stderr).toContain('"a..b" cannot be the name of a branch');
  expect((await branch("production")).stdout).toBe("a push of production to shop is deployed\n");
  ana.write({ "page.html": "four\n" });
  await ana.commit("the fourth page");
  expect((await push("HEAD:main")).stderr).toContain("not deployed: no app here has preview settings");
  expect(await page()).toBe("shallow");
  expect((await push("HEAD:production")).exitCode).toBe(0);
  expect(await page()).toBe("four");
});

test("a branch whose app allows it runs in a scope of its own, until it is deleted", async () => {
  const app = manifest.replace("kind: deployment", "kind: app");
  const preview = '  preview: { ttl: 1h, env: { BRANCH: "yes" } }\n';
  ana.write({ "berth.yaml": app + preview, Dockerfile: dockerfile, "page.html": "preview\n" });
  const commit = await ana.commit("a preview");
  const pushed = await push("HEAD:new/cart");
  expect([pushed.exitCode, pushed.stderr]).toEqual([
    0,
    expect.stringContaining(`stored new/cart ${commit.slice(0, 12)}`),
  ]);
  const { stdout } = await berth.cli(["preview", "list", "shop"]);
  const scope = /new\/cart +(\S+)/.exec(stdout)?.[1] ?? "";
  expect(scope).toMatch(/^shop-new-cart-[0-9a-f]{6}$/);
  const [pod] = await berth.pods(scope, "web");
  expect(berth.docker(["exec", pod?.name ?? "", "sh", "-c", "cat /www/index.html; echo $BRANCH"])).toBe("preview\nyes");
  expect(await page()).toBe("four");
  ana.write({ "berth.yaml": "kind: nothing\n" });
  await ana.commit("a faulty manifest");
  expect((await push("HEAD:production", ":new/cart")).exitCode).toBe(1);
  expect((await berth.cli(["preview"])).stdout).toContain("new/cart");
  expect((await push("HEAD:refs/heads/--help")).stderr).toContain("--help begins with a dash");
  expect((await push(":new/cart")).exitCode).toBe(0);
  expect((await berth.cli(["preview"])).stdout).toBe("no previews\n");
  expect(await berth.pods(scope)).toEqual([]);
  ana.write({ "berth.yaml": manifest });
});

test("a push that is cut off ends its build, and the next push is taken", async () => {
  ana.write({ Dockerfile: `${dockerfile}RUN sleep 300\n` });
  await ana.commit("a slow build");
  const cut = ana.start("push", "berth", "HEAD:production");
  let said = "";
  for await (const part of cut.stderr) {
    said += Buffer.from(part).toString();
    if (said.includes("sleep 300")) break;
  }
  const busy = await push("HEAD:production");
  expect([busy.exitCode, busy.stderr]).toEqual([
    128,
    expect.stringContaining("another push to shop is being deployed"),
  ]);
  cut.kill("SIGKILL");
  await waitFor(
    "the build to end",
    async () => {
      const { stdout } = await berth.cli(["build", "list", "shop/web"]);
      return !stdout.includes("building") && !stdout.includes("running");
    },
    40_000,
  );
  ana.write({ Dockerfile: dockerfile, "page.html": "five\n" });
  await ana.commit("the fifth page");
  await waitFor("a push to be taken", async () => (await push("HEAD:production")).exitCode === 0);
  expect(await page()).toBe("five");
});
