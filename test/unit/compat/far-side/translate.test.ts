import { describe, expect, test } from "bun:test";
import { translate } from "../../../../src/compat/far-side/translate.ts";

const at = (line: string | string[], forwarded = true) =>
  translate(typeof line === "string" ? line.split(" ") : line, { prefix: "yard", forwarded });
const argvOf = (line: string | string[], forwarded = true) => {
  const errand = at(line, forwarded);
  return errand.type === "run" ? errand.argv.join(" ") : errand;
};

describe("words that come over ssh are these words of berth", () => {
  test.each<[string, string]>([
    ["apply -f - --format json", "apply -f - --format json --no-build -y --no-wait"],
    ["apply -f - --format json --prune --force", "apply -f - --format json --no-build --prune --pull -y --no-wait"],
    ["apply -f a.hcl -f deploy", "apply -f a.hcl -f deploy -y --no-wait"],
    ["apply", "apply -f .yard -y --no-wait"],
    ["apply --verbose -y -f=x.json --format=json", "apply -f x.json --format json -y --no-wait"],
    ["diff -f - --format json -o json", "diff -f - --format json --no-build"],
    [
      "diff -f - --format json --prune --detailed-exitcode",
      "diff -f - --format json --no-build --prune --detailed-exitcode",
    ],
    ["diff -o json -f - --format hcl", "diff -f - --format hcl --no-build"],
    ["delete -f - --format json", "delete -f - --format json -y --ignore-not-found"],
    ["delete -f - --format json --prune", "delete -f - --format json --prune -y --ignore-not-found"],
    ["delete shop", "delete shop -y --ignore-not-found"],
    ["delete shop/web --prune", "delete shop/web --prune -y --ignore-not-found"],
    ["delete data/db.1 --dry-run", "delete data/db.1 --dry-run -y --ignore-not-found"],
    ["get pods", "get pods"],
    ["get pods -k statefulset", "get pods statefulset"],
    ["get pods -s shop", "get pods shop"],
    ["get pods -s shop -n web", "get pods shop/web"],
    ["get pods -k deployment -s shop -n web", "get pods deployment/shop/web"],
    ["get pd shop/web.0a1b", "describe pod shop/web.0a1b"],
    ["get pod shop-web.0a1b --show-env", "describe pod shop-web.0a1b --reveal"],
    ["get deployment", "get deployment"],
    ["describe deployment shop/web", "describe deployment shop/web"],
    ["desc deployment web --show-env", "describe deployment web --reveal"],
    ["describe deployment shop/web -o spec", "describe deployment shop/web"],
    ["describe pod shop/web.0a1b", "describe pod shop/web.0a1b"],
    ["describe pd shop", "describe pod shop"],
    ["logs shop/web", "logs shop/web"],
    ["logs shop/web.0a1b -f -t 20", "logs shop/web.0a1b --follow --tail 20"],
    ["logs shop --tail 0", "logs shop"],
    ["logs -ft5 shop/web", "logs shop/web --follow --tail 5"],
    ["exec shop/web ls -r /tmp", "exec shop/web -- ls -r /tmp"],
    ["exec shop/web -- rails db:migrate", "exec shop/web -- rails db:migrate"],
    ["exec -it -u root -w /srv shop/web.0a1b sh", "exec -t -i --workdir /srv --user root shop/web.0a1b -- sh"],
    ["exec shop/web -e A=1,B=2 -e C=x,y -- env", "exec --env A=1 --env B=2 --env C=x,y shop/web -- env"],
    ["exec --container shop-web.0a1b -- ls -l", "exec shop-web.0a1b -- ls -l"],
    ["exec --container=shop-web.0a1b ls -l", "exec shop-web.0a1b -- ls -l"],
    ["run shop/report", "run shop/report"],
    ["run shop/web rails db:migrate", "exec shop/web -- rails db:migrate"],
    ["restart shop/web", "restart shop/web"],
    ["restart web -k statefulset", "restart web --kind statefulset"],
    ["stop shop/web", "stop shop/web"],
    ["stop shop/web.0a1b --freeze", "stop shop/web.0a1b"],
    ["stop shop/web --no-freeze", "stop shop/web --no-freeze"],
    ["start shop/web.0a1b", "start shop/web.0a1b"],
    ["release shop/web", "releases shop/web"],
    ["re shop/web history", "releases shop/web"],
    ["releases web run", "release run web"],
    ["rollback shop/web", "rollback shop/web"],
    ["rollback web r123", "rollback web --to r123"],
    ["config shop", "config get shop"],
    ["config shop/web list", "config get shop/web"],
    ["config shop/web get TOK -o json", "config get shop/web"],
    ["config shop/web set A=1 B=- --no-restart", "config set shop/web A=1 B=- --no-restart"],
    ["config shop/web set A=1 B=", "config set shop/web A=1 B= --unset-empty"],
    ["config shop/web unset A B", "config unset shop/web A B"],
    ["config:set shop/web A=1", "config set shop/web A=1"],
    ["config:unset shop/web --no-restart A", "config unset shop/web A --no-restart"],
    ["stats", "stats"],
    ["stats shop/web --orphans", "stats shop/web --orphans"],
    ["stats -k job", "stats job"],
    ["plugins", "plugins -y"],
    ["plugins install owner/repo --version v1", "plugins install owner/repo --version v1 -y"],
    ["plugins remove pg", "plugins remove pg -y"],
    ["plugins update", "plugins update -y"],
    ["pg:backups:capture data/main -h", "--yes pg backups:capture data/main -h"],
    ["pg psql -o json", "-o json --yes pg psql -o json"],
    ["pg --help", "--yes pg --help"],
    ["-o json pg info", "-o json --yes pg info"],
    ["version", "version"],
    ["--version", "--version"],
    ["apply --help", "apply --help"],
    ["--controller-url http://127.0.0.1:9 stats", "--endpoint http://127.0.0.1:9 stats"],
    ["stats --controller-url=http://127.0.0.1:9", "--endpoint http://127.0.0.1:9 stats"],
    ["-r prod stats", "stats"],
  ])("%s", (line, argv) => {
    expect(argvOf(line)).toBe(argv);
  });

  test("and a source is received for one app, or for a Procfile", () => {
    const spec = { build: { context: "services/api", dockerfile: "" } };
    const packed = Buffer.from(JSON.stringify(spec)).toString("base64");
    expect(argvOf(`receive-pack shop/api --force --spec=${packed}`)).toEqual({
      ...({ type: "receive", what: "app", scope: "shop", name: "api", force: true, spec } as object),
    } as never);
    expect(argvOf("receive-pack shop/api")).toMatchObject({ force: false, spec: undefined } as never);
    expect(argvOf("receive-pack --procfile=shop")).toEqual({
      ...({ type: "receive", what: "procfile", scope: "shop", force: false } as object),
    } as never);
  });
});

describe("typed on the server", () => {
  test.each([
    ["delete shop/web", "delete shop/web --ignore-not-found"],
    ["delete shop/web -y", "delete shop/web -y --ignore-not-found"],
    ["delete -f - --format json", "delete -f - --format json -y --ignore-not-found"],
    ["plugins remove pg", "plugins remove pg"],
    ["pg:promote data/main", "pg promote data/main"],
  ])("%s asks where berth asks", (line, argv) => {
    expect(argvOf(line, false)).toBe(argv);
  });
});

test.each([
  ["apply -f - surprise", "files need -f"],
  ["apply -f Procfile", "a Procfile is applied from the machine that has the source: yard"],
  ["apply -f - --format procfile", "a Procfile"],
  ["apply --fancy", 'unknown flag "--fancy"'],
  ["apply -f", "-f needs a value"],
  ["delete -f a.json shop/web", "exclude each other"],
  ["delete a b", "one word too many"],
  ["stop shop", "is a whole scope"],
  ["stop shop/web --freeze --no-freeze", "exclude each other"],
  ["exec shop/web", "say what to run"],
  ["release", "say which"],
  ["release shop/web undo", "knows history and run"],
  ["rollback a b c", "one word too many"],
  ["config", "say which"],
  ["config shop/web drop", "knows list, get, set and unset"],
  ["stats shop -k job", "exclude each other"],
  ["receive-pack", "one SCOPE/NAME"],
  ["receive-pack ../x", "one SCOPE/NAME"],
  ["receive-pack a/b/c", "one SCOPE/NAME"],
  ["receive-pack --procfile=A", "is not a scope"],
  ["receive-pack a/b --procfile=c", "exclude each other"],
  ["receive-pack a/b --spec=%%%", "is not an object as JSON in base64"],
  ["receive-pack a/b --spec=W10=", "is not an object as JSON in base64"],
])("%s is refused", (line, message) => {
  expect(() => at(line)).toThrow(message);
});

const printed = (line: string, data: unknown) => {
  const errand = at(line);
  return errand.type === "run" ? errand.shape?.(data) : undefined;
};

test("structures are shown as that client shows them", () => {
  const data = { pods: [{ name: "a" }], degraded: [] };
  expect(JSON.parse(printed("get pods -o json", data) ?? "")).toEqual(data);
  expect(JSON.parse(printed("stats -o json", data) ?? "")).toEqual(data.pods);
  expect(JSON.parse(printed("diff -f - --format json -o json", data) ?? "")).toEqual({ status: "ok", data });
  expect(printed("describe deployment shop/web -o yaml", { name: "a" })).toContain("name: a");
  expect(printed("get pods -o wide", data)).toBeUndefined();
});

test("a config is lines, an object, or a block of a manifest", () => {
  const data = { vars: { TOKEN: 'a "b" ${c}', A: "1" } };
  expect(printed("config shop", data)).toBe('A=1\nTOKEN=a "b" ${c}');
  expect(printed("config shop get tok", data)).toBe('TOKEN=a "b" ${c}');
  expect(JSON.parse(printed("config shop get -o json", data) ?? "")).toEqual(data.vars);
  expect(printed("config shop -o hcl", data)).toBe('env = {\n  A = "1"\n  TOKEN = "a \\"b\\" $${c}"\n}');
  expect(printed("config shop -o yaml", data)).toContain('A: "1"');
  expect(() => printed("config shop get none", data)).toThrow('no key holds "none"');
  expect(printed("config shop", { vars: {} })).toBe("");
});
