import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Build } from "../../../src/orchestration/api/builds.ts";
import { type GitServer, startGitServer } from "../../support/git-server.ts";
import { freePort } from "../../support/ports.ts";
import { type Rig, rig } from "../../support/rig.ts";
import { openBrowser } from "../../support/ui/browser.ts";
import { waitFor } from "../../support/wait.ts";
import { axeFaults } from "../../support/ui/axe.ts";
import { takePictures } from "../../support/ui/pictures.ts";

setDefaultTimeout(120_000);

/** The executable with real containers and a real git server: a new app from source, to a served page. */
let berth: Rig;
let git: GitServer;
let address: string;
let folder: string;

const dockerfile =
  'FROM berth-fixture:1\nCOPY . /www\nRUN test ! -e /www/.env && echo "step one"\nEXPOSE 8080\nCMD ["httpd", "-f", "-p", "8080", "-h", "/www"]\n';
const trusted = process.env.GIT_SSL_CAINFO;

const { chromium, tab } = await openBrowser();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "berth-new."));
  git = startGitServer({ token: "s3cret-token" });
  process.env.GIT_SSL_CAINFO = git.ca;
  address = `127.0.0.1:${await freePort()}`;
  berth = await rig({ flags: ["--observability-addr", address, "--allow-private-hooks"] });
  const { stdout } = await berth.cli(["ui", "--print"]);
  await tab.open(/http:\/\/\S+/.exec(stdout)?.[0] ?? "");
  await tab.shows("Overview");
});

afterAll(async () => {
  if (trusted === undefined) delete process.env.GIT_SSL_CAINFO;
  else process.env.GIT_SSL_CAINFO = trusted;
  const images = berth?.docker(["image", "ls", "-q", "--filter", `label=${berth.prefix}.build`]).split("\n") ?? [];
  await berth?.close();
  for (const image of new Set(images)) if (image !== "") berth.docker(["image", "rm", "-f", image]);
  await git?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const page = async (name: string) => {
  const [pod] = await berth.pods("shop", name);
  return berth.docker(["exec", pod?.name ?? "", "cat", "/www/index.html"]).trim();
};
const buildsOf = async (name: string) =>
  ((await berth.call("GET", `/builds?scope=shop&name=${name}`)).body.data as unknown as { builds: Build[] }).builds;
const write = (id: string, text: string) =>
  tab.read(
    `(() => { const field = document.getElementById("${id}"); field.value = ${JSON.stringify(text)}; field.dispatchEvent(new Event("input", { bubbles: true })); })()`,
  );

describe("a new app from source, in the executable", () => {
  test("an archive is uploaded, built as its output shows, deployed and served", async () => {
    mkdirSync(join(folder, "src"));
    writeFileSync(join(folder, "src/Dockerfile"), dockerfile);
    writeFileSync(join(folder, "src/index.html"), "from an upload\n");
    writeFileSync(join(folder, "src/.env"), "KEY=1");
    const archive = Bun.spawnSync(["tar", "-cz", "-C", folder, "src"]).stdout.toString("base64");
    await tab.open(`http://${address}/new?from=upload`);
    await tab.shows("Or an archive");
    await write("scope", "shop");
    await write("name", "web");
    await tab.read(`(() => {
      const input = document.querySelector("#archive");
      const bytes = Uint8Array.from(atob(${JSON.stringify(archive)}), (one) => one.charCodeAt(0));
      Object.defineProperty(input, "files", { value: [new File([bytes], "src.tar.gz")], configurable: true });
      input.dispatchEvent(new Event("change", { bubbles: true }));
    })()`);
    await tab.shows("Found Dockerfile; 2 files");
    await tab.shows("since they look like secrets: .env");
    await tab.press("Show the plan");
    await tab.shows("1 replica is created");
    await tab.press("Deploy");
    await tab.shows("step one");
    await takePictures(tab, "new-server-building");
    await waitFor("the rollout", async () => {
      const text = await tab.read<string>("document.body.innerText");
      return text.includes("Rollout") && text.includes("succeeded");
    });
    await takePictures(tab, "new-server-done");
    expect(await axeFaults(tab)).toEqual([]);
    expect(await page("web")).toBe("from an upload");
    await tab.open(`http://${address}/builds`);
    await tab.shows("kept for rollback");
    await takePictures(tab, "new-server-builds");
    expect(await axeFaults(tab)).toEqual([]);
  });

  test("an example is chosen, deployed and served", async () => {
    await tab.open(`http://${address}/new?from=example`);
    await tab.shows("A service that deploys without a failed request");
    await tab.read(
      "[...document.querySelectorAll('.choice')].find((one) => one.innerText.startsWith('deploy')).click()",
    );
    await waitFor("the example", () => tab.read<boolean>("document.querySelector('#name').value === 'web'"));
    await write("spec.image", "berth-fixture:1");
    await write("spec.replicas", "1");
    await tab.press("Show the plan");
    await tab.shows("1 replica is created");
    await tab.press("Deploy");
    await waitFor("the rollout", async () => {
      const text = await tab.read<string>("document.body.innerText");
      return text.includes("Rollout") && text.includes("succeeded");
    });
    const [pod] = await berth.pods("demo", "web");
    const served = berth.docker(["exec", pod?.name ?? "", "wget", "-qO-", "http://127.0.0.1:8080/"]);
    expect(served).toContain("Change this line and apply again.");
  });

  test("a private repository is fetched with the token of the config, on the command line and in the browser", async () => {
    const commit = git.commit("main", "Faster search", {
      Dockerfile: dockerfile,
      "index.html": "from git\n",
      ".env": "KEY=1",
    });
    const without = await berth.cli(["up", "--git", git.url, "--name", "shop/api", "-y"]);
    expect([without.exitCode, without.stderr]).toEqual([
      1,
      expect.stringContaining("not a repository that can be read"),
    ]);
    await berth.cli(["config", "set", "shop/api", "GIT_TOKEN=-"], { stdin: "s3cret-token" });
    const up = await berth.cli([
      "up",
      "--git",
      `${git.url}#main`,
      "--name",
      "shop/api",
      "--git-token",
      "GIT_TOKEN",
      "-y",
    ]);
    expect([up.exitCode, up.exitCode === 0 ? "" : up.stderr]).toEqual([0, ""]);
    expect(up.stderr).toContain("step one");
    expect(await page("api")).toBe("from git");
    const [build] = await buildsOf("api");
    expect(build).toMatchObject({ git: { commit, ref: "main", subject: "Faster search" }, kept: true });
    expect(build?.releases).toHaveLength(1);
    expect((await berth.cli(["releases", "shop/api"])).stdout).toContain(`main ${commit.slice(0, 12)} Faster search`);
    expect(up.stdout + up.stderr + JSON.stringify(build)).not.toContain("s3cret-token");

    await tab.open(`http://${address}/new?from=git`);
    await tab.shows("Repository, https");
    await write("scope", "shop");
    await write("name", "api");
    await write("url", git.url);
    await write("token_key", "GIT_TOKEN");
    await waitFor("the button", () =>
      tab.read<boolean>(
        "[...document.querySelectorAll('button')].some((one) => one.innerText === 'Fetch' && !one.disabled)",
      ),
    );
    await tab.press("Fetch");
    await tab.shows("Found Dockerfile; 2 files");
    await tab.shows("Faster search");
    await tab.press("Show the plan");
    await tab.shows("nothing changes");
  });

  test("a build is followed and cancelled, and nothing is deployed", async () => {
    git.commit("slow", "Slow", { Dockerfile: 'FROM berth-fixture:1\nRUN echo "step slow" && sleep 300\n' });
    const words = ["up", "--git", `${git.url}#slow`, "--name", "shop/slow", "--git-token", "GIT_TOKEN", "-y"];
    await berth.cli(["config", "set", "shop/slow", "GIT_TOKEN=-"], { stdin: "s3cret-token" });
    const up = berth.cli(words);
    const build = await waitFor("the build", async () =>
      (await buildsOf("slow")).find(({ status }) => status === "building"),
    );
    await tab.open(`http://${address}/builds/shop/slow/${build?.id}`);
    await tab.shows("step slow");
    await tab.press("Cancel…");
    await tab.shows("The build ends, and no image is made");
    await tab.press("Cancel the build");
    await tab.shows("canceled");
    expect((await up).exitCode).toBe(1);
    expect(await berth.pods("shop", "slow")).toEqual([]);
  });

  test("nothing broke the policy", () => expect(chromium.complaints).toEqual([]));
});
