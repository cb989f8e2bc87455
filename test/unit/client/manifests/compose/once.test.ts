import { describe, expect, test } from "bun:test";
import { readCompose } from "../../../../support/compose.ts";

const done = (name: string) => `depends_on: {${name}: {condition: service_completed_successfully}}`;

function read(...services: string[]) {
  const { manifests, losses, notes, faults } = readCompose(
    `services:\n${services.map((one) => `  ${one}\n`).join("")}`,
  );
  expect({ faults, notes: notes.filter((note) => !note.endsWith(", as an init")) }).toEqual({ faults: [], notes: [] });
  const names = manifests.map(({ kind, name }) => `${kind}/${name}`);
  const inits = manifests.flatMap(({ spec }) => ((spec as { inits?: { name: string }[] }).inits ?? []) as object[]);
  return { names, inits, losses, notes, manifests };
}

describe("a service that others wait for until it is done", () => {
  test("becomes an init of the first one that waits", () => {
    const { names, inits, losses, notes, manifests } = read(
      "migrate: {image: app, command: migrate up, restart: 'no', environment: {A: 1, M: 2}, volumes: ['d:/d'], user: '5'}",
      `web: {image: app, environment: {A: 1}, ${done("migrate")}}`,
      `worker: {image: app, ${done("migrate")}}`,
    );
    expect({ names, losses }).toEqual({ names: ["deployment/web", "deployment/worker"], losses: [] });
    expect(notes).toEqual(['services.migrate: "migrate" runs before each start of "web", as an init']);
    const options = ["--dns-search=my-shop.berth", "--dns-option=ndots:1"];
    expect(inits).toEqual([
      { name: "migrate", command: ["migrate", "up"], retries: 5, docker_options: [...options, "--user=5"] },
    ]);
    expect(manifests[0]).toMatchObject({ spec: { env: { A: "1", M: "2" }, volumes: ["d:/d"] } });
  });

  test("keeps its image and entrypoint", () => {
    const { inits } = read(
      "init_db: {image: tool, entrypoint: [sh, -c], command: [x]}",
      `web: {image: app, ${done("init_db")}}`,
    );
    const options = ["--dns-search=my-shop.berth", "--dns-option=ndots:1", "--entrypoint=sh"];
    expect(inits).toEqual([
      { name: "init-db", image: "tool", command: ["-c", "x"], retries: 5, docker_options: options },
    ]);
  });

  test("sets its own values with env, where its program is written", () => {
    const { inits, manifests } = read(
      "init: {image: app, entrypoint: /bin/bash, command: [-c, x], environment: {A: 2, B: 3}}",
      `web: {image: app, environment: {A: 1}, ${done("init")}}`,
    );
    const options = ["--dns-search=my-shop.berth", "--dns-option=ndots:1", "--entrypoint=env"];
    expect(inits).toEqual([
      { name: "init", command: ["A=2", "/bin/bash", "-c", "x"], retries: 5, docker_options: options },
    ]);
    expect(manifests[0]).toMatchObject({ spec: { env: { A: "1", B: "3" } } });
  });

  test("becomes an init of the service that has its build", () => {
    const { manifests } = read(
      "migrate: {build: {context: ., target: worker}, command: m}",
      `api: {build: {context: ., target: api}, ${done("migrate")}}`,
      `worker: {build: {context: ., target: worker}, ${done("migrate")}}`,
    );
    expect(manifests.map(({ name, spec }) => [name, Object.hasOwn(spec as object, "inits")])).toEqual([
      ["api", false],
      ["worker", true],
    ]);
  });

  test("those that wait for each other run in that order", () => {
    const { inits } = read(
      `seed: {image: app, command: s, ${done("migrate")}}`,
      "migrate: {image: app, command: m}",
      `web: {image: app, ${done("seed")}}`,
    );
    expect(inits).toMatchObject([{ name: "migrate" }, { name: "seed" }]);
  });

  test("a circle of them ends", () => {
    const { names } = read(`a: {image: x, command: c, ${done("b")}}`, `b: {image: x, command: c, ${done("a")}}`);
    expect(names).toEqual(["job/b", "job/a"]);
  });

  test.each([
    ["it needs other values", "{image: app, command: m, environment: {A: 2}}"],
    ["it has no command", "{image: app}"],
    ["it has a build of its own", "{build: ./m, command: m}"],
    ["it has another thing at one place", "{image: app, command: m, volumes: ['other:/d']}"],
    ["it has an env file that the other has not", "{image: app, command: m, env_file: [/m.env]}"],
  ])("becomes a job where %s", (_, migrate) => {
    const web = `{image: app, environment: {A: 1}, volumes: ['d:/d'], env_file: [{path: /w.env, required: true}], ${done("migrate")}}`;
    const { manifests, losses } = readCompose(`services:\n  migrate: ${migrate}\n  web: ${web}\n`);
    expect(manifests.map(({ kind, name }) => `${kind}/${name}`)).toEqual(["deployment/web", "job/migrate"]);
    expect(losses).toEqual([
      'services.migrate: is a job here, as it ends when it is done: start it with "berth run my-shop/migrate"',
    ]);
  });

  test("is one whose name or restart policy says so, and that serves nobody", () => {
    const { names, inits, losses } = read(
      "db: {image: pg, restart: always}",
      "db-migrate: {image: app, command: m, depends_on: [db]}",
      "report: {image: app, command: r, restart: 'no'}",
      "once: {image: app, command: o, deploy: {restart_policy: {condition: none}}}",
      "web: {image: app, restart: always, depends_on: [db-migrate]}",
      "create-bucket: {image: mc, command: mb http://web, depends_on: [web]}",
    );
    expect(names).toEqual(["deployment/db", "deployment/web", "job/report", "job/once", "job/create-bucket"]);
    expect(inits).toMatchObject([{ name: "db-migrate", command: ["m"] }]);
    const path = "services.";
    expect(losses.map((line) => line.slice(path.length, line.indexOf(":", path.length)))).toEqual([
      "report",
      "once",
      "create-bucket",
    ]);
  });

  test.each([
    ["serves a port", "init: {image: app, command: i, ports: ['80']}"],
    ["is restarted", "init: {image: app, command: i, restart: unless-stopped}"],
    ["is asked whether it is ready", "report: {image: app, command: s, restart: 'no', healthcheck: {test: t}}"],
    ["stays to be asked", "setup: {image: app, command: [sh, -c, 's; sleep infinity'], healthcheck: {test: t}}"],
    ["waits for ever", "init: {image: app, command: 'sh -c \"s && tail -f /dev/null\"'}"],
    ["has a count", "init: {image: app, command: i, restart: 'no', deploy: {replicas: 1}}"],
    ["has no command", "tool: {image: app, restart: 'no'}"],
    ["is what another one needs", "db: {image: app, command: d, restart: 'no'}\n  web: {image: app, depends_on: [db]}"],
  ])("is none that %s", (_, services) => {
    const { manifests, losses } = readCompose(`services:\n  ${services}\n`);
    expect({ kind: manifests[0]?.kind, losses }).toEqual({ kind: "deployment", losses: [] });
  });

  test.each([
    "healthcheck: {test: t}",
    "healthcheck: {disable: true}",
    "restart: on-failure",
    "restart: 'on-failure:3'",
  ])("is one by its name with %s", (field) => {
    const { manifests, losses } = readCompose(`services:\n  init-db: {image: app, command: m, ${field}}\n`);
    expect(manifests.map(({ kind, name }) => `${kind}/${name}`)).toEqual(["job/init-db"]);
    expect(losses).toEqual([expect.stringContaining('start it with "berth run my-shop/init-db"')]);
  });

  test("with a health check it is a job, where it goes on with what starts after it", () => {
    const { manifests } = readCompose(
      "services:\n  setup: {image: app, command: 'sh -c \"certs; until curl http://es; do sleep 1; done\"', healthcheck: {test: t}}\n" +
        "  es: {image: app, depends_on: {setup: {condition: service_healthy}}}\n",
    );
    expect(manifests.map(({ kind, name }) => `${kind}/${name}`)).toEqual(["deployment/es", "job/setup"]);
    expect(manifests[1]?.spec).not.toHaveProperty("probes");
  });

  test("is a job where it reaches the service that starts after it", () => {
    const { names } = read(
      "setup: {image: app, entrypoint: [sh, -c, 'until wget http://web; do sleep 1; done']}",
      "web: {image: app, depends_on: [setup]}",
    );
    expect(names).toEqual(["deployment/web", "job/setup"]);
  });

  test("becomes no init of a service that starts after the one that waits, nor of any where it is off", () => {
    const { manifests, losses, notes } = readCompose(
      "services:\n  seed: {image: app, command: s, profiles: [tools]}\n" +
        "  init: {image: app, command: i, environment: {A: 1}}\n" +
        "  web: {image: app, depends_on: [init, seed], environment: {A: 2}}\n" +
        "  proxy: {image: proxy, depends_on: [web]}\n",
    );
    expect(manifests.map(({ kind, name }) => `${kind}/${name}`)).toEqual([
      "deployment/web",
      "deployment/proxy",
      "job/seed",
      "job/init",
    ]);
    expect(losses).toHaveLength(1);
    expect(notes).toEqual(['services.seed: is a job here: "berth run my-shop/seed" starts it']);
  });

  test("is told of where it may only fill a volume", () => {
    const web = "web: {image: nginx, volumes: ['out:/www', './n.conf:/n.conf:ro']}";
    const front = (more: string) => `services:\n  front: {build: ./front, volumes: ['out:/out']${more}}\n  ${web}\n`;
    const notesOf = (text: string, conf = "") => readCompose(text, { files: { "n.conf": conf } }).notes;
    expect(notesOf(front(""))).toEqual([
      'services.front: "front" is restarted when it ends: where it only fills a volume, make it a job',
    ]);
    expect(notesOf(front(", restart: always"))).toEqual([]);
    expect(notesOf(front(", command: serve"))).toEqual([]);
    expect(notesOf(front(""), "proxy_pass http://front:3000;")).toEqual([]);
    expect(notesOf(front("").replace("image: nginx", "image: nginx, depends_on: [front]"))).toEqual([]);
    expect(notesOf("services: {worker: {build: ., volumes: ['own:/o']}, web: {image: x}}\n")).toEqual([]);
  });
});

describe("depends_on is the order of the first start", () => {
  const order = (...services: string[]) => {
    const { manifests } = read(...services);
    return Object.fromEntries(
      manifests.flatMap(({ name, spec }) => {
        const { start_after: after } = spec as { start_after?: string[] };
        return after === undefined ? [] : [[name, after]];
      }),
    );
  };

  test("for health, and for a start alone", () => {
    expect(
      order(
        "db: {image: pg, healthcheck: {test: ready}}",
        "My_Cache: {image: redis}",
        "web: {image: app, depends_on: {db: {condition: service_healthy}, My_Cache: {condition: service_started}}}",
        "proxy: {image: nginx, depends_on: [web]}",
      ),
    ).toEqual({ web: ["db", "my_cache:started"], proxy: ["web:started"] });
  });

  test("with an init, its service waits for what it waits for, and others wait for its service", () => {
    expect(
      order(
        "db: {image: pg, healthcheck: {test: ready}}",
        "migrate: {image: app, command: m, depends_on: {db: {condition: service_healthy}}}",
        `web: {image: app, depends_on: {migrate: {condition: service_completed_successfully}, db: {condition: service_started}}}`,
        `worker: {image: app, ${done("migrate")}}`,
      ),
    ).toEqual({ web: ["db"], worker: ["web:started"] });
  });

  test("an init goes to the service that the others wait for, so that no two wait for each other", () => {
    expect(
      order(
        "init: {image: app, command: m}",
        "web: {image: app, depends_on: {api: {condition: service_started}, init: {condition: service_completed_successfully}}}",
        `api: {image: app, ${done("init")}}`,
      ),
    ).toEqual({ web: ["api:started"] });
  });
});
