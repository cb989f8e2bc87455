// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { describe, expect, test } from "bun:test";
import { parseAllDocuments } from "yaml";
import { cli } from "../../../../support/cli.ts";
import { folder } from "../../../../support/files.ts";

const manifestsIn = (text: string) =>
  parseAllDocuments(text, { logLevel: "silent" }).map((document) => document.toJS() as Record<string, unknown>);

async function run(command: string) {
  using place = folder({ "n.conf": "x" });
  const outcome = await cli(["import", "docker-run", command, "--scope", "shop"], { cwd: place.path });
  return { ...outcome, manifests: manifestsIn(outcome.out) };
}

describe("import docker-run", () => {
  test.each<[string, object]>([
    ["docker run nginx:1", { name: "nginx", spec: { image: "nginx:1" } }],
    ["docker run -d --name web_1 ghcr.io/a/b:1 c 'd e'", { name: "web_1", spec: { command: ["c", "d e"] } }],
    ["sudo docker container run -dp 80:80 -p=81:81/udp x", { spec: { ports: ["0.0.0.0:80:80", "0.0.0.0:81:81/udp"] } }],
    ["docker run -e A=1 -e 'B=$C' -e \"D=$E\" -e F x", { spec: { env: { A: "1", B: "$C", D: "${E}", F: "${F:-}" } } }],
    [
      "docker run -v data:/d -v $(pwd)/n.conf:/n:ro x",
      { spec: { volumes: ["data:/d", "${asset.shop.files.n_conf}:/n:ro"] } },
    ],
    ["docker run --mount type=bind,src=/a,dst=/b,readonly x", { spec: { volumes: ["/a:/b:ro"] } }],
    [
      "docker run --restart=always -m 512m --cpus 2 x",
      { spec: { restart: "always", resources: { limits: { memory: "512Mi", cpu: "2" } } } },
    ],
    ["docker run --ulimit nofile=1:2 --ulimit core=0 x", { spec: { ulimits: { nofile: "1:2", core: "0:0" } } }],
    ["docker run --log-opt max-size=5m --stop-timeout 7 x", { spec: { logs: { max_size: "5m" }, stop_grace: "7s" } }],
    [
      "docker run --entrypoint sh -u 1 -w /w --init --privileged x -c y",
      {
        spec: {
          entrypoint: ["sh"],
          command: ["-c", "y"],
          docker_options: ["--user=1", "--workdir=/w", "--init", "--privileged"],
        },
      },
    ],
    ["docker run --net host x", { spec: { network_mode: "host" } }],
    [
      "docker run --network proxy x",
      { spec: { networks: ["proxy"], docker_options: ["--dns-search=shop.berth", "--dns-option=ndots:1"] } },
    ],
    [
      "docker run --network n --network-alias=a --network-alias b --oom-score-adj=5 x",
      {
        spec: {
          networks: ["n"],
          docker_options: [
            ...["--dns-search=shop.berth", "--dns-option=ndots:1", "--oom-score-adj=5"],
            ...["--network-alias=a", "--network-alias=b"],
          ],
        },
      },
    ],
    ["docker run --link db x", { spec: { docker_options: ["--dns-search=shop.berth", "--dns-option=ndots:1"] } }],
    ["docker run -d --rm x c", { spec: { command: ["c"] } }],
    [
      "docker run --health-cmd 'a b' --health-interval 5s x",
      { spec: { probes: { readiness: { exec: { command: ["sh", "-c", "a b"] }, period: "5s" } } } },
    ],
    ["docker run \\\n  --rm -it \\\n  x", { spec: { image: "x" } }],
  ])("%s", async (command, manifest) => {
    const { code, err, manifests } = await run(command);
    expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(/manifests?: everything carries over\n$/) });
    expect(manifests.at(-1)).toMatchObject({ kind: "deployment", scope: "shop", ...manifest });
  });

  test("what runs once in front of somebody is a job", async () => {
    const { err, manifests } = await run("docker run --rm -it x c");
    expect(manifests).toMatchObject([{ kind: "job", name: "x", spec: { image: "x", command: ["c"] } }]);
    expect(err).toContain('start it with "berth run shop/x"');
  });

  test("another name of a link, a driver of logs, and a command of the shell are reported", async () => {
    const { err } = await run("docker run --link db:mysql --log-driver=syslog x");
    expect(err).toContain('docker run: --link: "mysql" is reached as "db" here: give that app docker_options:');
    expect(err).toContain("logging.driver: berth keeps the logs itself");
    const shell = await run('docker run -u "$(id -u):$(id -g)" x');
    expect(shell).toMatchObject({ code: 2, err: expect.stringContaining("$(id -u) is a command for the shell") });
    expect((await run("docker run x sh -c 'echo $(date)'")).code).toBe(0);
  });

  test("a flag without a counterpart is reported", async () => {
    const { err, manifests } = await run("docker run --blkio-weight 5 --gpus all x y");
    expect(err).toContain("docker run: --blkio-weight: has no counterpart\n");
    expect(err).toContain("gpus: has no counterpart");
    expect(manifests.at(-1)).toMatchObject({ spec: { image: "x", command: ["y"] } });
  });

  test.each(["docker ps", "docker run -d", ""])("%p is not a command line of docker run", async (command) => {
    const { code, err } = await run(command);
    expect(code).toBe(2);
    expect(err).toContain("docker run");
  });
});

const kamal = `service: shop
image: me/shop
servers:
  web: [192.0.2.1]
  job: {hosts: [192.0.2.2], cmd: bin/jobs --all, env: {clear: {Q: 1}}}
proxy: {ssl: true, host: shop.example.com, app_port: 3000, healthcheck: {path: /health, interval: 3}}
registry: {username: me, password: [KEY]}
builder: {arch: amd64, dockerfile: Dockerfile.prod}
env: {clear: {DB_HOST: shop-db, PRICE: 5$}, secret: [MASTER_KEY, "SMTP:SMTP_PASSWORD"]}
volumes: ["storage:/rails/storage"]
accessories:
  db: {image: "mysql:8", host: 192.0.2.1, port: "127.0.0.1:3306:3306", env: {secret: [ROOT]}, files: ["db/my.cnf:/etc/my.cnf"], directories: ["data:/var/lib/mysql"]}
`;

describe("import kamal", () => {
  test("roles and accessories become an app and deployments, with paths that start beside config/", async () => {
    using place = folder({ "config/deploy.yml": kamal, "db/my.cnf": "", Dockerfile: "" });
    const { code, out, err } = await cli(["import", "kamal"], { cwd: place.path });
    expect(code).toBe(0);
    expect(err).toContain('note: config/deploy.yml: servers: "2" servers become one: ');
    expect(err).toContain(
      "set before berth apply: MASTER_KEY, SMTP_PASSWORD, ROOT\n4 manifests: everything carries over\n",
    );
    const secrets = { MASTER_KEY: "${MASTER_KEY}", SMTP: "${SMTP_PASSWORD}" };
    const build = { context: ".", dockerfile: "Dockerfile.prod" };
    const [asset, web, job, db] = manifestsIn(out);
    expect(asset).toMatchObject({ kind: "asset", spec: { files: { my_cnf: "./db/my.cnf" } } });
    expect(web).toMatchObject({ kind: "app", scope: "shop", name: "shop" });
    expect(web?.spec).toMatchObject({
      ...{ build, env: { DB_HOST: "shop-db", PRICE: "5$", ...secrets }, volumes: ["storage:/rails/storage"] },
      ...{ ports: ["3000"], host: "shop.example.com", tls: {} },
      probes: { readiness: { http_get: { path: "/health", port: 3000 }, period: "3s" } },
    });
    expect(job).toMatchObject({
      kind: "deployment",
      name: "shop-job",
      spec: { build, command: ["bin/jobs", "--all"], env: { Q: "1", ...secrets } },
    });
    expect(db).toMatchObject({ name: "shop-db", spec: { image: "mysql:8", ports: ["127.0.0.1:3306:3306"] } });
    expect(db?.spec).toMatchObject({
      volumes: ["${asset.shop.files.my_cnf}:/etc/my.cnf:ro", "db-data:/var/lib/mysql"],
    });
    const check = await cli(["validate", "-"], {
      cwd: place.path,
      stdin: out,
      variables: { MASTER_KEY: "a", SMTP_PASSWORD: "b", ROOT: "c" },
    });
    expect(check).toMatchObject({ code: 0 });
  });

  test("a destination is merged over the file, and named where it is not asked for", async () => {
    const base =
      "service: shop\nimage: a/b\nservers: {web: [a, b]}\nproxy: {app_port: 3000, host: a.test}\nenv: {clear: {A: 1, B: 1}}\n";
    using place = folder({
      "config/deploy.yml": base,
      "config/deploy.staging.yml": "servers: {web: [c]}\nproxy: {host: s.test}\nenv: {clear: {B: 2}}\n",
      "config/deploy.eu.yaml": "",
    });
    const staging = await cli(["import", "kamal", "-d", "staging"], { cwd: place.path });
    expect(staging.err).toContain("1 manifest: everything carries over\n");
    expect(staging.err).not.toContain("note:");
    expect(manifestsIn(staging.out)).toMatchObject([
      {
        kind: "app",
        scope: "shop-staging",
        name: "shop",
        spec: { ports: ["3000"], host: "s.test", env: { A: "1", B: "2" } },
      },
    ]);
    const plain = await cli(["import", "kamal"], { cwd: place.path });
    expect(plain.err).toContain(
      'note: config/deploy.yml: destination: "eu", "staging" has settings of its own: import them with --destination\n',
    );
    expect(manifestsIn(plain.out)).toMatchObject([{ scope: "shop", spec: { host: "a.test" } }]);
    const gone = await cli(["import", "kamal", "--destination", "gone"], { cwd: place.path });
    expect([gone.code, gone.err.includes("config/deploy.gone.yml")]).toEqual([1, true]);
  });

  test("values of the environment in Ruby become variables", async () => {
    const text =
      'service: shop\nimage: <%= ENV["OWNER"] %>/shop\nservers: {web: {hosts: [<%= ENV.fetch("HOST") %>], options: {publish: ["4001:4001", "4001:4001/udp"], user: 5}}}\n' +
      "<%# a comment %>\nproxy: {host: <%= ENV['SITE'] || 'a.test' %>, ssl: true, ssl_redirect: false}\n" +
      'env: {clear: {A: <%= ENV["A"] %>, B: <%= ENV.fetch("B", "x") %>, C: <%= `date` %>}}\n';
    using place = folder({ "deploy.yml": text });
    const { out, err } = await cli(["import", "kamal", "deploy.yml"], { cwd: place.path });
    expect(manifestsIn(out)[0]).toMatchObject({
      spec: {
        host: "${SITE:-a.test}",
        https_redirect: false,
        env: { A: "${A}", B: "${B:-x}" },
        docker_options: ["--user=5"],
        ports: ["80", "0.0.0.0:4001:4001", "0.0.0.0:4001:4001/udp"],
      },
    });
    expect(err).toContain("deploy.yml: <%= `date` %>: is Ruby: write its value into the file\n");
    expect(err).toContain("set before berth apply: A\n");
  });

  test("accessories as maps, with a name and labels of their own", async () => {
    const text =
      "service: shop\nimage: a/b\nservers: {web: [h], ws: {hosts: [h], proxy: true, cmd: ws}}\naccessories:\n  db:\n    service: sql\n    image: pg\n    port: 5432\n    labels: {a: b}\n" +
      "    files: [{local: x/run.sh, remote: /run.sh, mode: '0755'}]\n    directories: [{local: data, remote: /d, owner: '1:1'}]\n    options: {restart: always, cpus: 2, made-up: 1}\n";
    using place = folder({ "deploy.yml": text, "x/run.sh": "true" });
    const { out, err } = await cli(["import", "kamal", "deploy.yml"], { cwd: place.path });
    expect(manifestsIn(out).at(-1)).toMatchObject({
      name: "sql",
      spec: {
        ports: ["0.0.0.0:5432:5432"],
        volumes: ["${asset.shop.files.run_sh}:/run.sh:ro", "db-data:/d"],
        restart: "always",
        resources: { limits: { cpu: "2" } },
      },
    });
    expect(out).toContain("--label=a=b");
    expect(err).toContain("options.made-up: has no counterpart");
    expect(err).toContain("servers.ws.proxy: has no counterpart: make it an app with a host of its own");
  });

  test("two accessories with a folder of the same name have a volume each", async () => {
    const text =
      "service: shop\nimage: a/b\naccessories:\n  db: {image: pg, directories: ['data:/d', 'a/b/c:/e', '/srv/x:/f']}\n" +
      "  redis: {image: redis, directories: ['data:/d']}\n";
    using place = folder({ "deploy.yml": text });
    const { out } = await cli(["import", "kamal", "deploy.yml"], { cwd: place.path });
    const volumes = manifestsIn(out).map(({ spec }) => (spec as { volumes?: string[] }).volumes);
    expect(volumes.slice(-2)).toEqual([["db-data:/d", "db-a-b-c:/e", "/srv/x:/f"], ["redis-data:/d"]]);
  });

  test("limits of the proxy carry over; hooks, secrets of the build and kept assets are reported", async () => {
    const text =
      "service: shop\nimage: a/b\nservers: [192.0.2.1, {192.0.2.2: beta}, 192.0.2.1]\nasset_path: /public\nenv: {clear: {A: 1}, tags: {beta: {A: 2}}}\n" +
      "builder: {arch: amd64, secrets: [TOKEN], ssh: default}\n" +
      "proxy: {host: a.test, response_timeout: 40, buffering: {max_request_body: 40000000}}\n";
    const files = {
      ".kamal/hooks/pre-deploy": "",
      ".kamal/hooks/post-deploy": "",
      ".kamal/hooks/pre-build.sample": "",
    };
    using place = folder({ "config/deploy.yml": text, ...files });
    const { out, err } = await cli(["import", "kamal"], { cwd: place.path });
    expect(manifestsIn(out)).toMatchObject([{ kind: "app", spec: { limits: { timeout: "40s", body: "40000000" } } }]);
    expect(await cli(["validate", "-"], { cwd: place.path, stdin: out })).toMatchObject({ code: 0 });
    expect(err.split("\n")).toEqual([
      "config/deploy.yml: env.tags: has no counterpart: there is one server",
      'config/deploy.yml: builder.secrets: "TOKEN" is not carried over: add it to build.secrets, and set it with berth config set',
      "config/deploy.yml: builder.ssh: has no counterpart: use a secret of the build",
      'config/deploy.yml: hooks (and "pre-deploy"): "post-deploy" does not run: for a command before each version write release, for a message a webhook',
      "note: config/deploy.yml: asset_path: files of earlier versions are not kept: a page that is open asks for those of the new one",
      'note: config/deploy.yml: servers: "2" servers become one: set replicas where one container is too few',
      expect.stringContaining("1 manifest: "),
      "",
    ]);
  });

  test("servers without roles, and an app without a host", async () => {
    using place = folder({ "deploy.yml": "service: shop\nimage: a/b\nservers: [192.0.2.1]\nfuture: 1\n" });
    const { out, err } = await cli(["import", "kamal", "deploy.yml"], { cwd: place.path });
    expect(manifestsIn(out)).toMatchObject([{ kind: "deployment", name: "shop", spec: { ports: ["80"] } }]);
    expect(err).toContain("deploy.yml: future: has no counterpart\n");
  });

  test.each([
    ["kind: deployment\n", "this is not a file of Kamal: it has no service"],
    ["a: [\n", "this is not a file of Kamal: it has no service"],
    ["service: &s {a: *s}\n", "an alias stands inside of what it stands for"],
  ])("%p is refused", async (text, says) => {
    using place = folder({ "a.yml": text });
    const { code, err } = await cli(["import", "kamal", "a.yml"], { cwd: place.path });
    expect({ code, err }).toEqual({ code: 1, err: `error: a.yml: ${says}\n` });
  });
});
