import { afterAll, beforeAll, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { executable, berth as run } from "../support/executable.ts";
import { freePort } from "../support/ports.ts";
import { type Rig, rig } from "../support/rig.ts";
import { type Sshd, startSshd } from "../support/sshd.ts";
import { startTmux, type Tmux } from "../support/tmux.ts";
import { waitFor } from "../support/wait.ts";

const checkout = join(import.meta.dir, "../..");
const heading = "## From your source to a running app\n";
const baseImage = "busybox:1.36";
/** For one command, or for what it should show: a busy machine takes long to replace a container. */
const patientMs = 60_000;

/** What the terminal shows for each command of the section, in order; the exit code is 0 unless it is said. */
const expected: { starts: string; exitCode?: number; shows: string[] }[] = [
  { starts: "berth remote add", shows: ["production (root@server.example.com) is stored, and is the default"] },
  { starts: "berth remote test", shows: ["✓ production: berth "] },
  { starts: "mkdir shop", shows: [] },
  { starts: "cat >Dockerfile", shows: [] },
  { starts: "cat >start.sh", shows: [] },
  { starts: "berth init", shows: ["wrote berth.yaml: shop/web from Dockerfile; port 8080, shop.example.com"] },
  {
    starts: "berth up",
    shows: [
      ...["+ deployment/shop/web", "+ ingress/shop/web", "uploading 3 files", "Step 1/", " built\n"],
      ...["✓ deployment/shop/web is ready (1/1)", "\nhttps://shop.example.com:"],
    ],
  },
  { starts: "curl", shows: ["\nhello from my app\n"] },
  { starts: "berth config set", shows: ["set GREETING on shop/web", "restarting deployment/shop/web"] },
  { starts: "curl", shows: ["\nwelcome from my app\n"] },
  { starts: "berth logs", shows: ["| listening on port 8080"] },
  { starts: "berth exec", shows: ["\nwelcome from my app\n"] },
  { starts: "sed", shows: [] },
  {
    starts: "berth up",
    exitCode: 1,
    shows: [
      "~ deployment/shop/web",
      "✗ deployment/shop/web rolled back to ",
      "StartFailed",
      '"bash": executable file not found',
    ],
  },
  { starts: "berth why", shows: [" failed ", "went back to  release", '"bash": executable file not found'] },
  { starts: "berth releases", shows: ["auto_rollback to ", "failed     apply", "succeeded  apply"] },
  { starts: "curl", shows: ["\nwelcome from my app\n"] },
];

let server: Rig;
let sshd: Sshd;
let tmux: Tmux;
let env: Record<string, string>;
let hadBaseImage: boolean;

beforeAll(async () => {
  const [http, https] = [await freePort(), await freePort()];
  const flags = ["--ingress-http-addr", `127.0.0.1:${http}`, "--ingress-https-addr", `127.0.0.1:${https}`];
  [server, sshd] = await Promise.all([rig({ flags }), startSshd()]);
  hadBaseImage = server.docker(["image", "ls", "-q", baseImage]).trim() !== "";
  if (!hadBaseImage) server.docker(["tag", "berth-fixture:1", baseImage]);
  const home = join(sshd.folder, "laptop");
  mkdirSync(home);
  // The names of the docs lead to this machine, and curl trusts the CA of the server.
  const host = ["HostName 127.0.0.1", `Port ${sshd.port}`, `HostKeyAlias [127.0.0.1]:${sshd.port}`];
  appendFileSync(sshd.clientConfig, `Host server.example.com\n  ${host.join("\n  ")}\n`);
  const ca = join(home, "ca.pem");
  writeFileSync(ca, (await server.cli(["ca"])).stdout);
  const curl = ["silent", "show-error", `cacert = ${ca}`, `connect-to = "shop.example.com:443:127.0.0.1:${https}"`];
  writeFileSync(join(home, ".curlrc"), `${curl.join("\n")}\n`);
  env = {
    ...{ HOME: home, USER: "ana", BERTH_TUNNELS: join(home, "t"), BERTH_SSH_CONFIG: sshd.clientConfig },
    ...{ BERTH_REMOTES: join(home, "remotes.json") },
  };
  const path = `${dirname(executable)}:${process.env.PATH}`;
  tmux = await startTmux({ folder: home, env: { ...env, PATH: path }, timeoutMs: patientMs });
}, 60_000);

afterAll(async () => {
  await tmux?.[Symbol.asyncDispose]();
  await run(["remote", "remove", "production"], { env });
  const images = server.docker(["image", "ls", "-q", "--filter", `label=${server.prefix}.build`]).split("\n");
  await server.close();
  await sshd[Symbol.asyncDispose]();
  for (const image of new Set(images)) if (image !== "") server.docker(["image", "rm", "-f", image]);
  if (!hadBaseImage) server.docker(["image", "rm", baseImage]);
}, 60_000);

/** Commands in the code blocks of the section; one with a here-document is several lines. */
function commandsOf(page: string): string[] {
  const text = readFileSync(join(checkout, page), "utf8");
  const section = text.slice(text.indexOf(heading) + heading.length).split(/^## /m)[0] ?? "";
  const blocks = [...section.matchAll(/^```\n([\s\S]*?)^```$/gm)].map(([, lines]) => lines ?? "");
  return blocks.flatMap((block) => block.match(/^.*<<'(\w+)'\n[\s\S]*?^\1$|^.+$/gm) ?? []);
}

test("README has the session of the quick start", () => {
  expect(commandsOf("README.md")).toEqual(commandsOf("docs/quick-start.md"));
});

test("the session of the quick start, typed on a terminal: from source to an app on a server, and a bad deploy that goes back", async () => {
  const commands = commandsOf("docs/quick-start.md");
  expect(commands.map((command, at) => command.slice(0, expected[at]?.starts.length))).toEqual(
    expected.map(({ starts }) => starts),
  );
  for (const [at, { starts, exitCode = 0, shows }] of expected.entries()) {
    // The server of this test keeps its socket in a folder of its own.
    const own = starts === "berth remote add" ? ` --socket ${server.root}/run/berth.sock` : "";
    const answers = starts === "berth up" ? [{ question: "apply these changes? [y/N]", answer: "y" }] : [];
    const once = async () => {
      const shown = await tmux.type(`${commands[at]}${own}`, answers);
      for (const text of shows) expect(shown.text).toContain(text);
      expect(shown).toMatchObject({ exitCode });
    };
    // New config is served once its containers are: whoever waits for it asks again.
    const again = starts === "curl" || starts === "berth exec";
    await (again ? waitFor(`what ${commands[at]} shows`, () => once().then(() => true), patientMs) : once());
    // Let's Encrypt does not reach this machine.
    if (starts === "berth init") {
      await tmux.type("sed -i 's/tls: {}/tls: { provider: internal }/' berth.yaml");
    }
  }
}, 120_000);
