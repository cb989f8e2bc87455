// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { describe, expect, test } from "bun:test";
import { shellWords, sizeText } from "../../../../../src/client/manifests/compose/text.ts";
import { keptFile, keptReference } from "../../../../../src/client/manifests/kept.ts";
import { readCompose } from "../../../../support/compose.ts";

/** The spec of one service, and what of it is lost. */
function service(fields: string, top = "", scene: Parameters<typeof readCompose>[1] = {}) {
  const indented = fields.replaceAll(/^/gm, "    ");
  const { manifests, losses, notes, faults } = readCompose(
    `services:\n  web:\n    restart: always\n${indented}\n${top}`,
    scene,
  );
  expect(faults).toEqual([]);
  const { restart: _, ...spec } = (manifests.at(-1)?.spec ?? {}) as Record<string, unknown>;
  return { spec, losses, notes };
}

const a = keptReference("A");

describe("importCompose", () => {
  test.each<[string, object]>([
    ["image: nginx:1", { image: "nginx:1" }],
    ["build: ./x", { build: { context: "./x" } }],
    [
      "build: {dockerfile: D, target: t, args: [A=1, B]}",
      { build: { context: ".", dockerfile: "D", target: "t", args: { A: "1", B: keptReference("B:-") } } },
    ],
    [`command: sh -c "a 'b'" 'c d' e\\ f`, { command: ["sh", "-c", "a 'b'", "c d", "e f"] }],
    ["entrypoint: [a, b]\ncommand: [c]", { entrypoint: ["a", "b"], command: ["c"] }],
    ["environment: [A=1, B=x=y, C]", { env: { A: "1", B: "x=y", C: keptReference("C:-") } }],
    ["environment: {A: 1, B: true, C: 0.10, D: }", { env: { A: "1", B: "true", C: "0.10", D: keptReference("D:-") } }],
    ["env_file: .env", { env_file: [".env"] }],
    ["env_file: [a.env, {path: b.env}]", { env_file: ["a.env", "b.env"] }],
    [
      "ports: ['8080:80', '127.0.0.1:1:2/udp', '[::1]:5:6', '7-8:7-8']",
      { ports: ["0.0.0.0:8080:80", "127.0.0.1:1:2/udp", "[::1]:5:6", "0.0.0.0:7:7", "0.0.0.0:8:8"] },
    ],
    ["ports: [{target: 80, published: '8080', protocol: tcp}]", { ports: ["0.0.0.0:8080:80"] }],
    ["ports: ['${A}:80']", { ports: [`0.0.0.0:${a}:80`] }],
    [
      "volumes: ['data:/data', '/srv:/x:ro', {type: volume, source: y, target: /y, read_only: true}]",
      { volumes: ["data:/data", "/srv:/x:ro", "y:/y:ro"] },
    ],
    ["volumes: [{type: tmpfs, target: /t}]\ntmpfs: /u", { docker_options: ["--tmpfs=/t", "--tmpfs=/u"] }],
    [
      "healthcheck: {test: [CMD, a, b], retries: 5}",
      { probes: { readiness: { exec: { command: ["a", "b"] }, period: "30s", timeout: "30s", failure_threshold: 5 } } },
    ],
    [
      "healthcheck: {test: a || b, interval: 5s, timeout: 1s}",
      {
        probes: {
          readiness: { exec: { command: ["sh", "-c", "a || b"] }, period: "5s", timeout: "1s", failure_threshold: 3 },
        },
      },
    ],
    ["healthcheck: {disable: true}", {}],
    ["healthcheck: {test: [NONE]}", {}],
    [
      "deploy: {replicas: 3, resources: {limits: {cpus: 0.50, memory: 512M, pids: 9}}}",
      { replicas: 3, resources: { limits: { cpu: "0.50", memory: "512Mi" } }, docker_options: ["--pids-limit=9"] },
    ],
    ["cpus: 2\nmem_limit: 1g\nscale: 2", { replicas: 2, resources: { limits: { cpu: "2", memory: "1Gi" } } }],
    [
      "user: '1'\nworking_dir: /w\ninit: true\nread_only: false\nshm_size: 64M\nsysctls: {a.b: 1}",
      { docker_options: ["--user=1", "--workdir=/w", "--init", "--shm-size=64m", "--sysctl=a.b=1"] },
    ],
    // Docker gives a new volume the owner of the image's folder, here as there: an owner in the manifest would differ.
    ["user: '1000:1000'\nvolumes: ['data:/data']", { docker_options: ["--user=1000:1000"], volumes: ["data:/data"] }],
    ["extra_hosts: ['a:1.2.3.4', 'b=::1', 'c=[::2]']", { extra_hosts: ["a:1.2.3.4", "b:::1", "c:::2"] }],
    ["ulimits: {nproc: 5, nofile: {soft: 1, hard: 2}}", { ulimits: { nproc: "5", nofile: "1:2" } }],
    ["logging: {options: {max-size: 5m, max-file: '2'}}", { logs: { max_size: "5m", max_files: 2 } }],
    [
      "stop_grace_period: 1m30s\nstop_signal: SIGQUIT\npull_policy: always",
      { pull: "always", stop_grace: "1m30s", stop_signal: "SIGQUIT" },
    ],
    ["labels: {a: b}\nnetwork_mode: host", { docker_options: ["--label=a=b"], network_mode: "host" }],
    ["image: a:$A-${A}-$$A-${A:-b}-${A:?must}", { image: `a:${a}-${a}-$A-${keptReference("A:-b")}-${a}` }],
    ["x-note: 1", {}],
  ])("%s carries over", (fields, spec) => {
    expect(service(fields, "", { files: { ".env": "", "a.env": "", "b.env": "" } })).toEqual({
      spec: spec as Record<string, unknown>,
      losses: [],
      notes: [],
    });
  });

  test.each<[string, string, object]>([
    ["ports: ['1-2:1-3']", "ports[0]: this range of ports cannot be written out", { ports: [] }],
    ["volumes: ['~/x:/x']", 'volumes[0]: "~/x" is a folder of this machine', {}],
    ["volumes: ['./large:/x']", 'volumes[0]: "./large" is a large folder of this machine', {}],
    ["network_mode: 'service:db'", 'network_mode: "service:db" has no counterpart', {}],
    [
      "deploy: {resources: {reservations: {devices: [{driver: nvidia}]}}}",
      "deploy.resources.reservations.devices: has",
      {},
    ],
    ["networks: {n: {ipv4_address: 10.0.0.2}}", "networks.n.ipv4_address: has no counterpart", {}],
    ["constructor: 1", "constructor: has no counterpart", {}],
    ["blkio_config: {weight: 1}", "blkio_config: has no counterpart", {}],
    ["gpus: all", "gpus: has no counterpart", {}],
    ["secrets: [none]", "secrets[0]: secrets.none has neither a file nor a content here", {}],
    ["image: a${-x}", 'image: "${-x}" is not a variable', { image: "a" }],
  ])("%s is told", (fields, loss, spec) => {
    const files = { "large/a": "", "large/b": "", "large/c": "", "large/d": "" };
    const outcome = service(fields, "", { files });
    expect(outcome.losses).toHaveLength(1);
    expect(outcome.losses[0]).toStartWith(`services.web.${loss}`);
    expect(outcome.spec).toEqual(spec as Record<string, unknown>);
  });

  test.each<[string, object]>([
    ["image: x\nbuild: .", { build: { context: "." } }],
    ["ports: ['80', '${A:-}:81']", { ports: ["80", "81"] }],
    ["ports: ['${A:-127.0.0.1:13306}:3306']", { ports: [`${keptReference("A:-127.0.0.1:13306")}:3306`] }],
    [
      "ports: ['${A-:83:83}', '${B:-}:1:1', '${C:-}2:2']",
      {
        ports: [
          keptReference("A:-0.0.0.0:83:83"),
          `${keptReference("B:-0.0.0.0")}:1:1`,
          `${keptReference("C:-0.0.0.0:")}2:2`,
        ],
      },
    ],
    [
      "command: run ${A:-a b} \"${B:-it's}\" '${C}'",
      { command: ["run", "a", "b", keptReference("B:-it's"), keptReference("C")] },
    ],
    ["image: ${B-c}", { image: keptReference("B:-c") }],
    ["image: ${B:-${C}}", { image: keptReference("C") }],
    ["image: ${B:-${C:-d}}", { image: keptReference("C:-d") }],
    ["mem_limit: ${A:-512m}", { resources: { limits: { memory: keptReference("A:-512Mi") } } }],
    ["healthcheck: {interval: 5s}", {}],
    ["healthcheck: {test: [CMD, a], start_period: 5s, start_interval: 1s}", { probes: expect.anything() }],
    ["deploy: {resources: {reservations: {cpus: 1, memory: 64M}}}", { docker_options: ["--memory-reservation=64m"] }],
    ["ports: ['${A:-8}-${B:-9}:80-81']", { ports: ["0.0.0.0:8:80", "0.0.0.0:9:81"] }],
    ["volumes: ['/srv:/x:${MODE:-ro}']", { volumes: ["/srv:/x:ro"] }],
    ["deploy: {mode: global, placement: {}, resources: {reservations: {cpus: 1}}}", {}],
    ["depends_on: [a]\nlinks: [a]\ntty: true\nnetworks: [front]\ndevelop: {}\nplatform: x", {}],
    ["expose: ['3000', 9000-9001, '3000']", { ports: ["3000", "9000", "9001"] }],
    ["expose: [3000]\nports: ['80:3000']", { ports: ["0.0.0.0:80:3000"] }],
    ["expose: [3000]\nnetwork_mode: host", { network_mode: "host" }],
    ["env_file: [{path: gone.env, required: false}]", {}],
    ["volumes: [{type: bind, source: /d, target: /e, bind: {create_host_path: true}}]", { volumes: ["/d:/e"] }],
    [
      "volumes: ['${A:-.}/data:/x', '${B:-./data}/:/y:ro', '/cache', '${C:-/srv}/x:/z:ro,rslave']",
      { volumes: ["data:/x", "data:/y:ro", "web-cache:/cache", `${keptReference("C:-/srv")}/x:/z:ro`] },
    ],
  ])("%s needs nothing", (fields, spec) => {
    expect(service(fields)).toEqual({ spec: spec as Record<string, unknown>, losses: [], notes: [] });
  });

  test.each<[string, string, object]>([
    [
      "volumes: ['./x/n.conf:/n']",
      'volumes[0]: "./x/n.conf" is part of an asset',
      { volumes: [expect.stringMatching(/:\/n:ro$/)] },
    ],
    ["volumes: ['./gone.conf:/n:ro']", 'volumes[0]: "./gone.conf" does not exist', { volumes: [expect.anything()] }],
    [
      "build: .\nvolumes: ['.:/app', '/app/node_modules']",
      'volumes[0]: "." is part of what the image is built from',
      { build: { context: "." } },
    ],
    ["env_file: gone.env", 'env_file: "gone.env" does not exist', { env_file: ["gone.env"] }],
    [
      "labels: {traefik.enable: true}",
      "labels: the labels of a proxy are kept",
      { docker_options: ["--label=traefik.enable=true"] },
    ],
    ["profiles: [dev]\ndeploy: {replicas: 2}", "profiles: has replicas 0", { replicas: 0 }],
    ["logging: {driver: syslog}", "logging.driver: berth keeps the logs itself", {}],
    ["image: a${B:+c}", 'image: "B" is not set, so what depends on it is left out', { image: "a" }],
  ])("%s is noted", (fields, note, spec) => {
    const outcome = service(fields, "", { files: { "x/n.conf": "" } });
    expect(outcome).toMatchObject({ losses: [], notes: [expect.stringContaining(`services.web.${note}`)] });
    expect(outcome.spec).toEqual(spec as Record<string, unknown>);
  });

  test("a folder inside of the context: code is in the image, data that is written is a volume", () => {
    const files = { "src/a.py": "", "db/x.db": "" };
    const outcome = service("build: .\nvolumes: ['./src:/app/src', './db:/app/db', './db:/ro:ro']", "", { files });
    expect(outcome.spec.volumes).toEqual(["db:/app/db", expect.stringMatching(/x_db.*:\/ro\/x\.db:ro$/)]);
    expect(outcome.losses).toEqual([]);
    expect(outcome.notes).toEqual([
      expect.stringContaining('"./src" is part of what the image is built from: not mounted'),
      expect.stringContaining('"./db" is a volume here: it starts with what the image has at that place'),
    ]);
  });

  test("a context without a dot is a folder too", () => {
    const { spec, notes } = service("build: web\nvolumes: ['./web/src:/code/src', /code/node_modules]", "", {
      files: { "web/src/a.js": "" },
    });
    expect(spec.volumes).toEqual(["web-code-node-modules:/code/node_modules"]);
    expect(notes).toEqual([
      expect.stringContaining('"./web/src" is part of what the image is built from: not mounted'),
    ]);
  });

  test("a folder inside of the context that the image has elsewhere, if at all, is mounted with its files", () => {
    const { spec, notes } = service("build: .\nvolumes: ['./data/hub:/data']", "", {
      files: { "data/hub/hub.json": "{}" },
    });
    expect(spec.volumes).toEqual(["data-hub:/data", expect.stringMatching(/hub_json.*:\/data\/hub\.json:ro$/)]);
    expect(notes).toEqual([expect.stringContaining('"./data/hub" is part of an asset')]);
  });

  test("variables in an env file are filled in as Compose does, from the file itself and from .env", () => {
    const files = {
      "a.env": "U=me\nURL=postgres://${U}:$P@db/$D\nRAW='${U}'\nLATER=${U}\nOWN=${U}\nTWICE=$URL",
      "b.env": "LATER=x",
      "c.env": "KEPT=${U}",
    };
    const known = { values: { P: "s", D: "shop" }, complete: true };
    const { spec, losses, notes } = service(
      "env_file: [a.env, b.env, {path: c.env, format: raw}]\nenvironment: {OWN: 1}",
      "",
      { files, known },
    );
    const [u, pass, d] = [keptReference("U:-me"), keptReference("P:-s"), keptReference("D:-shop")];
    expect({ losses, notes }).toEqual({ losses: [], notes: [] });
    expect(spec).toMatchObject({ env_file: ["a.env", "b.env", "c.env"] });
    expect(spec.env).toEqual({
      URL: `postgres://${u}:${pass}@db/${d}`,
      TWICE: keptReference("URL:-postgres://me:s@db/shop"),
      OWN: "1",
    });
  });

  test("a lone service finds itself by its name", () => {
    const { spec } = service("environment: {VOTERS: '1@web:9093'}");
    const search = ["--dns-search=my-shop.berth", "--dns-option=ndots:1"];
    expect(spec.docker_options).toEqual(search);
    const named = service("container_name: broker\nenvironment: {VOTERS: '1@broker:9093'}");
    expect(named).toMatchObject({ spec: { docker_options: [...search, "--network-alias=broker"] }, losses: [] });
    const files = { "n.conf": "proxy_pass http://web:80;" };
    const mounted = service("volumes: ['./n.conf:/n.conf:ro']", "", { files });
    expect(mounted.spec).toMatchObject({ docker_options: search });
    expect(service("container_name: broker").spec).toEqual({});
    expect(service("healthcheck: {test: 'curl http://web:80'}").spec).toMatchObject({ docker_options: search });
  });

  test("values of .env become defaults; with it, a variable without a value is empty", () => {
    const known = { values: { A: "1", E: "", J: "a}b" }, complete: true };
    const { spec } = service("image: $A-${A:-2}-${A:?x}-${E:-3}-${E-4}-${A:+5}-${N}-${N:?x}-${J}", "", { known });
    const [one, n] = [keptReference("A:-1"), keptReference("N")];
    const [three, empty] = [keptReference("E:-3"), keptReference("E:-")];
    expect(spec.image).toBe(`${one}-${one}-${one}-${three}-${empty}-5-${keptReference("N:-")}-${n}-a}b`);
  });

  test("with .env, a variable that nothing sets is reported", () => {
    const known = { values: { A: "1" }, shell: { B: "2" }, complete: true };
    const fields = "environment: {A: $A, B: $B, C: $C, D: '${D:-}', E: '${E:?x}'}";
    expect(service(fields, "", { known }).notes).toEqual([
      'services.web.environment.C: "C" has no value in the env file: it is empty, unless the shell sets it at berth apply',
    ]);
    expect(service(fields, "", {}).notes).toEqual([]);
  });

  test("secrets of a build are reported with what to write", () => {
    expect(service("build: {context: ., secrets: [TOKEN]}").losses).toEqual([
      'services.web.build.secrets: "TOKEN" is not carried over: add it to build.secrets, and set it with berth config set',
    ]);
  });

  test("the shell decides where a form has no counterpart", () => {
    const { spec } = service("image: ${A:-${B}}-${A:+c}", "", { known: { shell: { A: "1" } } });
    expect(spec.image).toBe("1-c");
  });

  test("services of a profile that is asked for start", () => {
    const fields = "profiles: [dev, all]\nscale: 2";
    expect(service(fields, "", { profiles: ["all"] })).toEqual({ spec: { replicas: 2 }, losses: [], notes: [] });
    expect(service(fields, "", { profiles: ["*"] }).spec).toEqual({ replicas: 2 });
  });

  test("files and small folders become one asset, each file once", () => {
    const { manifests } = readCompose(
      "services: {a: {volumes: ['./x/n.conf:/n:ro', './y:/m:ro']}, b: {volumes: ['./x/n.conf:/n:ro']}}\n",
      { files: { "x/n.conf": "", "y/n.conf": "", "y/z/1.sql": "" } },
    );
    expect(manifests.map(({ kind, name }) => `${kind}/${name}`)).toEqual([
      "asset/files",
      "deployment/a",
      "deployment/b",
    ]);
    const files = { n_conf: keptFile("./x/n.conf"), n_conf_2: keptFile("./y/n.conf"), _1_sql: keptFile("./y/z/1.sql") };
    expect(manifests[0]?.spec).toEqual({ files });
    const mount = (key: string, target: string) => `${keptReference(`asset.my-shop.files.${key}`)}:${target}:ro`;
    expect(manifests[1]).toMatchObject({
      spec: { volumes: [mount("n_conf", "/n"), mount("n_conf_2", "/m/n.conf"), mount("_1_sql", "/m/z/1.sql")] },
    });
    expect(manifests[2]).toMatchObject({ spec: { volumes: [mount("n_conf", "/n")] } });
  });

  test("a name with a dot leads nowhere: the file that has it is named", () => {
    const { losses } = readCompose(
      "services:\n  rt: {container_name: a.rt}\n  kong: {volumes: ['./k.yml:/k.yml:ro', './o.yml:/o.yml:ro']}\n",
      { files: { "k.yml": "url: http://a.rt:4000/", "o.yml": "aa.rt a.rt.de" } },
    );
    expect(losses).toEqual(['services.rt: "a.rt" is reached as "rt" here: change it in "./k.yml"']);
  });

  test("services that could not reach the internet are named", () => {
    const { notes } = readCompose(
      "services: {a: {networks: [i]}, b: {networks: {i: {}, o: {}}}, c: {networks: {i: {}}}, d: {}}\nnetworks: {i: {internal: true}, o: {}}\n",
    );
    expect(notes).toEqual([
      'services.a.networks: "a" has only internal networks, and reaches the internet here',
      'services.c.networks: "c" has only internal networks, and reaches the internet here',
    ]);
  });

  describe("a folder with files", () => {
    const files = { "c/a.conf": "x", "d/app.db": "x" };
    const mount = (target: string) => `${keptReference("asset.my-shop.files.a_conf")}:${target}/a.conf:ro`;

    test.each([
      ["/etc/nginx/conf.d", ""],
      ["/docker-entrypoint-initdb.d", ""],
      ["/app/seed", ":ro"],
    ])("at %s%s hides what the image has there, as in Compose", (target, mode) => {
      const { spec } = service(`volumes: ['./c:${target}${mode}']`, "", { files });
      expect(spec).toEqual({ volumes: [mount(target)], docker_options: [`--tmpfs=${target}`] });
    });
    test("where the app can add files is a volume too", () => {
      const { spec, losses } = service("volumes: ['./c:/app/config']", "", { files });
      expect({ spec, losses }).toEqual({ spec: { volumes: ["c:/app/config", mount("/app/config")] }, losses: [] });
    });
    test("at the place of another mount is only its files", () => {
      const { spec } = service("volumes: ['./c:/data', 'own:/data/']", "", { files });
      expect(spec).toEqual({ volumes: [mount("/data"), "own:/data/"] });
    });
    test("of a database starts empty, and that is said", () => {
      const { spec, losses } = service("volumes: ['./d:/data']", "", { files });
      expect(spec).toEqual({ volumes: ["d:/data"] });
      expect(losses).toEqual([expect.stringContaining('"./d" is a volume here, which starts empty: copy what')]);
    });
  });

  describe("an empty file that the app writes", () => {
    const files = { "acme.json": "", "a.db": "", "n.cnf": "" };
    test("is in a volume where its folder is for data", () => {
      const { spec, losses, notes } = service(
        "volumes: ['./acme.json:/letsencrypt/acme.json', './a.db:/app/data/a.db']",
        "",
        {
          files,
        },
      );
      expect({ spec, losses }).toEqual({ spec: { volumes: ["acme-json:/letsencrypt", "a-db:/app/data"] }, losses: [] });
      expect(notes[0]).toBe(
        'services.web.volumes[0]: "./acme.json" is in a volume here, which is mounted at "/letsencrypt"',
      );
      const both = service("volumes: ['./a.db:/data/a.db', 'd:/data/']", "", { files });
      expect([both.spec, both.notes]).toEqual([{ volumes: ["d:/data/"] }, []]);
    });
    test("is said where nobody knows what else is in the folder; a file for reading is an asset", () => {
      const { spec, losses } = service(
        "volumes: ['./a.db:/app/a.db', './n.cnf:/etc/n.cnf', './a.db:/data/b.db:ro']",
        "",
        {
          files,
        },
      );
      expect(losses).toEqual([
        expect.stringMatching(/^services\.web\.volumes\[0\]: "\.\/a\.db" is empty, and the app cannot write it: /),
      ]);
      expect(spec.volumes).toEqual([
        `${keptReference("asset.my-shop.files.n_cnf")}:/etc/n.cnf:ro`,
        `${keptReference("asset.my-shop.files.a_db")}:/data/b.db:ro`,
      ]);
    });
  });

  test("PWD is the folder of the Compose file, whatever a shell has", () => {
    const { spec } = service(
      "volumes: ['${PWD}/n.conf:/n:ro', '$PWD/d:/d', '${PWD:-.}/e:/e', {type: bind, source: '${PWD}/f', target: /f}]",
      "",
      {
        files: { "n.conf": "x" },
      },
    );
    expect(spec.volumes).toEqual([`${keptReference("asset.my-shop.files.n_conf")}:/n:ro`, "d:/d", "e:/e", "f:/f"]);
  });

  describe("a service that is there for the settings of others", () => {
    const namesOf = (text: string) => {
      const { manifests, notes } = readCompose(text);
      return [manifests.map(({ name }) => name), notes];
    };
    const left = ['services.base: "base" only holds settings of other services: left out'];

    test("is left out, and said", () => {
      const merged = "services:\n  base: &b\n    image: x\n  web:\n    <<: *b\n    command: w\n";
      expect(namesOf(merged)).toEqual([["web"], left]);
      expect(namesOf("services: {base: {image: x}, web: {extends: base}, jobs: {extends: {service: base}}}\n")).toEqual(
        [["web", "jobs"], left],
      );
      expect(namesOf("services:\n  base: &b\n    image: x\n  web:\n    <<: [*b]\n")).toEqual([["web"], left]);
    });

    test("gives them its build all the same", () => {
      const { manifests } = readCompose(
        "services: {base: {build: ., image: x}, web: {image: x}, jobs: {extends: base}}\n",
      );
      expect(manifests.map(({ spec }) => (spec as { build?: object }).build)).toEqual([
        { context: "." },
        { context: "." },
      ]);
    });

    test.each([
      ["app: {image: x}, web: {extends: app}", "its name does not say so"],
      ["base: {image: x}, web: {image: x}", "nobody takes its settings"],
      ["base: {image: x, command: c}, web: {extends: base}", "it has a command"],
      ["base: {image: x}, web: {extends: base, depends_on: [base]}", "another one waits for it"],
      ["base: {image: x}, web: {extends: base, environment: {A: 'http://base:80'}}", "another one reaches it"],
      ["web: {extends: {file: o.yaml, service: base}}, base: {image: x}", "another file has that one"],
    ])("stays with %s: %s", (services) => {
      const { manifests, notes } = readCompose(`services: {${services}}\n`, {
        files: { "o.yaml": "services: {base: {image: y}}" },
      });
      expect({ count: manifests.length, notes }).toEqual({ count: 2, notes: [] });
    });
  });

  test("a program stays one, wherever it is mounted; a config says so with its mode", () => {
    const { manifests } = readCompose(
      "services: {a: {volumes: ['./run.sh:/run.sh', './d:/d'], configs: [{source: c, mode: 0755}, {source: c, target: /p, mode: 0440}]}}\n" +
        "configs: {c: {content: x}}\n",
      { files: { "run.sh": "#!/bin/sh", "d/job.sh": "#!/bin/sh", "d/plain.sh": "true" } },
    );
    const { files, modes } = (manifests[0]?.spec ?? {}) as Record<string, object>;
    expect(modes).toEqual({ run_sh: "0755", job_sh: "0755", c: "0755" });
    expect(files).toMatchObject({ c: "x", c_2: "x" });
  });

  test("secrets and configs of files, texts and variables are files of the asset", () => {
    const top = "secrets: {s: {file: ./s.txt}, e: {environment: E}}\nconfigs: {c: {content: 'a ${A:-b}'}}\n";
    const fields = "secrets: [s, {source: e, target: /run/e}]\nconfigs: [{source: c, target: /etc/c}]";
    const { spec, losses, notes } = service(fields, top, { files: { "s.txt": "" } });
    const mounts = [
      ["s_txt", "/run/secrets/s"],
      ["e", "/run/e"],
      ["c", "/etc/c"],
    ];
    expect({ losses, notes }).toEqual({ losses: [], notes: [] });
    expect(spec.volumes).toEqual(
      mounts.map(([key, target]) => `${keptReference(`asset.my-shop.files.${key}`)}:${target}:ro`),
    );
  });

  test("volumes and networks of others; a name alone makes no volume external", () => {
    const options =
      "x: {driver_opts: {type: none, o: bind, device: /srv/x}}, m: {driver_opts: {type: tmpfs, device: tmpfs}}";
    const top =
      `volumes: {data: {external: true}, v: {name: own}, w: {driver_opts: {}}, nfs: {driver_opts: {type: nfs}}, ${options}}\n` +
      "networks: {n: {external: true, name: shared}}\n";
    const volumes = "volumes: ['data:/a', 'v:/b:ro', 'w:/c', 'x:/d', 'm:/e', 'nfs:/f']\nnetworks: [n]";
    const { spec, losses } = service(volumes, top);
    expect(spec).toEqual({
      volumes: ["data:/a:external", "v:/b:ro", "w:/c", "/srv/x:/d", "nfs:/f"],
      networks: ["shared"],
      docker_options: ["--tmpfs=/e"],
    });
    expect(losses).toEqual([expect.stringMatching(/^volumes\.nfs\.driver_opts: has no counterpart/)]);
  });

  test("the output of docker compose config: absolute paths of the project are local ones", () => {
    const fields =
      "command: null\nnetworks: {default: null}\nports: [{mode: ingress, target: 80, published: '8080', protocol: tcp}]\n" +
      "volumes: [{type: bind, source: /project/n.conf, target: /n, read_only: true, bind: {}}, {type: volume, source: d, target: /d, volume: {}}]";
    const top = "networks: {default: {name: shop_default}}\nvolumes: {d: {name: shop_d}}\n";
    const { spec, losses, notes } = service(fields, top, { files: { "n.conf": "" } });
    expect({ losses, notes }).toEqual({ losses: [], notes: [] });
    expect(spec).toEqual({
      ports: ["0.0.0.0:8080:80"],
      volumes: [`${keptReference("asset.my-shop.files.n_conf")}:/n:ro`, "d:/d"],
    });
  });

  test("names and anchors; services of one file find each other", () => {
    const { manifests, losses, notes } = readCompose(
      "name: my_app\nx-a: &a {image: x}\nservices:\n  Web_1:\n    <<: *a\n    restart: 'no'\n  b: {image: y, network_mode: host}\n" +
        "  c: {build: ., image: z, dns_search: [own], dns_opt: ['ndots:2']}\n  d: {image: z, dns_opt: ['ndots:2']}\n",
    );
    const search = "--dns-search=my-app.berth";
    expect(manifests).toEqual([
      {
        kind: "deployment",
        scope: "my-app",
        name: "web_1",
        spec: { image: "x", restart: "no", docker_options: [search, "--dns-option=ndots:1"] },
      },
      { kind: "deployment", scope: "my-app", name: "b", spec: { image: "y", network_mode: "host" } },
      {
        kind: "deployment",
        scope: "my-app",
        name: "c",
        spec: { build: { context: "." }, docker_options: ["--dns-search=own", "--dns-option=ndots:2"] },
      },
      {
        kind: "deployment",
        scope: "my-app",
        name: "d",
        spec: { build: { context: "." }, docker_options: [search, "--dns-option=ndots:2"] },
      },
    ]);
    expect({ losses, notes }).toEqual({ losses: [], notes: [] });
  });

  test("container names, and aliases of networks and links, are names of the pod within its scope", () => {
    const { manifests, losses } = readCompose(
      "services:\n  db: {container_name: Shop_db, hostname: Shop_db, networks: {n: {aliases: [sql, web]}}}\n" +
        "  web: {links: ['db:pg', db, 'gone:x'], environment: {B: 'pg://u@Shop_db/x', C: 'sql:1', D: 'pg:1'}}\n" +
        "  top: {network_mode: host, container_name: other}\n",
    );
    expect(losses).toEqual([]);
    const aliases = manifests.map(({ spec }) => {
      const { docker_options: options = [] } = spec as { docker_options?: string[] };
      return options.filter((option) => option.startsWith("--network-alias"));
    });
    expect(aliases).toEqual([["--network-alias=Shop_db", "--network-alias=sql", "--network-alias=pg"], [], []]);
  });

  test("a name with a dot, and one of a service in the machine's network, is reported where it is used", () => {
    const { losses } = readCompose(
      "services:\n  db: {container_name: db.shop, networks: {n: {aliases: [sql]}}}\n  top: {network_mode: host, container_name: other}\n" +
        "  web: {environment: {A: 'http://db:80', B: 'pg://u@db.shop/x', C: 'sql:1', D: 'other:1', POSTGRES_DB: db.shop, DB_HOST: db.shop}}\n",
    );
    expect(losses).toEqual([
      'services.web.environment.B: "db.shop" is reached as "db" here: change it',
      'services.web.environment.D: "other" is reached as "top" here: change it',
      'services.web.environment.DB_HOST: "db.shop" is reached as "db" here: change it',
    ]);
  });

  test("names of variables are names of the pod, also that of the project", () => {
    const { manifests, losses } = readCompose(
      "name: '${NAME:-Depot}'\nservices:\n" +
        "  db: {container_name: '${COMPOSE_PROJECT_NAME}-pg', hostname: '${PG}', networks: {n: {aliases: ['${SQL:-web}']}}}\n" +
        "  web: {links: ['db:${LINK:-store}'], environment: {DB_HOST: '${COMPOSE_PROJECT_NAME}-pg', P: '${PG}:1'}}\n",
    );
    expect(losses).toEqual([]);
    const project = keptReference("COMPOSE_PROJECT_NAME:-depot");
    const [{ scope, spec } = {}] = manifests as { scope?: string; spec?: object }[];
    expect({ scope, spec }).toEqual({
      scope: "depot",
      spec: {
        docker_options: [
          "--dns-search=depot.berth",
          "--dns-option=ndots:1",
          `--hostname=${keptReference("PG")}`,
          `--network-alias=${project}-pg`,
          `--network-alias=${keptReference("PG")}`,
          `--network-alias=${keptReference("LINK:-store")}`,
        ],
      },
    });
  });

  test("the project is called as its variables say, the file, and last the folder", () => {
    const scopeOf = (text: string, known: object) =>
      readCompose(text, { known }).manifests.map(({ scope }) => scope as string)[0];
    const values = { COMPOSE_PROJECT_NAME: "a" };
    expect(scopeOf("name: n\nservices: {web: {image: x}}\n", { values, shell: { COMPOSE_PROJECT_NAME: "s" } })).toBe(
      "s",
    );
    expect(scopeOf("name: n\nservices: {web: {image: x}}\n", { values })).toBe("a");
    expect(scopeOf("name: n\nservices: {web: {image: x}}\n", {})).toBe("n");
    expect(scopeOf("services: {web: {image: x}}\n", {})).toBe("my-shop");
  });

  test("a variable without a value has the one of .env, and is not there where nothing sets it", () => {
    const known = { values: { A: "1", B: "" }, shell: { C: "3" }, complete: true };
    const fields = "environment: [A, B, C, D]\nbuild: {context: ., args: [A, D]}";
    expect(service(fields, "", { known })).toEqual({
      spec: {
        env: { A: keptReference("A:-1"), B: keptReference("B:-"), C: keptReference("C:-") },
        build: { context: ".", args: { A: keptReference("A:-1") } },
      },
      losses: [],
      notes: [],
    });
  });

  test("what is true or false, or one word of a few, can be a variable", () => {
    const known = { values: { RO: "false", UP: "always", NET: "host" } };
    const fields =
      "read_only: ${RO}\nprivileged: '${P:-true}'\ninit: '${I:-}'\npull_policy: ${UP}\nnetwork_mode: ${NET}";
    expect(service(fields, "", { known })).toEqual({
      spec: {
        pull: keptReference("UP:-always"),
        network_mode: keptReference("NET:-host"),
        docker_options: [
          `--read-only=${keptReference("RO:-false")}`,
          `--privileged=${keptReference("P:-true")}`,
          `--init=${keptReference("I:-false")}`,
        ],
      },
      losses: [],
      notes: [],
    });
    expect(service("read_only: '${A:-maybe}'").losses).toEqual([
      "services.web.read_only: is neither true nor false: left out",
    ]);
  });

  test("an option that is empty where nobody sets its variable is left out", () => {
    expect(service("hostname: '${H:-}'\nuser: ''\nworking_dir: '${W}'")).toEqual({
      spec: { docker_options: [`--workdir=${keptReference("W")}`] },
      losses: [],
      notes: [],
    });
  });

  test.each([
    ["a: [", "expected"],
    ["just: text\n", "this is not a Compose file: it has no services"],
    ["", "this is not a Compose file: it has no services"],
    ["services: &s {web: {image: x, labels: *s}}", "an alias stands inside of what it stands for"],
  ])("%p is a fault", (text, message) => {
    const { manifests, faults } = readCompose(text);
    expect(manifests).toEqual([]);
    expect(faults[0]?.message).toStartWith(message);
  });

  test("hundreds of aliases are fine", () => {
    const services = Array.from({ length: 300 }, (_, at) => `  s${at}: {<<: *a, labels: *l}\n`);
    const { manifests, faults } = readCompose(
      `x-l: &l {a: b}\nx-a: &a {image: x, environment: {A: 1}, sysctls: *l}\nservices:\n${services.join("")}`,
    );
    expect(faults).toEqual([]);
    expect(manifests).toHaveLength(300);
  });

  test("aliases that multiply are a fault", () => {
    const levels = Array.from(
      { length: 8 },
      (_, at) => `l${at + 1}: &l${at + 1} [${Array(9).fill(`*l${at}`).join(",")}]`,
    );
    const { faults } = readCompose(`l0: &l0 [x]\n${levels.join("\n")}\nservices: {a: {}}\n`);
    expect(faults).toHaveLength(1);
  });

  test("words and sizes", () => {
    expect(shellWords(`a "b \\" c"'d' \\e "x`)).toEqual(["a", 'b " cd', "e", '"x']);
    expect(["1b", "2k", "3KB", "4m", "5MiB", "6g", 7].map(sizeText)).toEqual([
      "1",
      "2Ki",
      "3Ki",
      "4Mi",
      "5Mi",
      "6Gi",
      "7",
    ]);
    expect(sizeText("x")).toBeUndefined();
  });
});
