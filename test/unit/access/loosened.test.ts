import { expect, test } from "bun:test";
import { allowed } from "../../../src/access/allowed.ts";
import { operator, tokenPrincipal } from "../../../src/access/principal.ts";

const token = tokenPrincipal({ scopes: ["actions"], apps: [] });
const held = ["--user", "65534", "--cap-drop", "ALL", "--read-only", "--security-opt", "no-new-privileges", "--init"];
const bind = { volumes: ["/etc:/host:ro"], docker_options: held };
const paths = (stands: object, wanted: object) =>
  allowed(token, { kind: "deployment", stands: { ...stands }, wanted: { ...wanted } }).map(({ path }) => path);

test.each([
  ["all of them", []],
  ["the user", held.slice(2)],
  ["the capabilities", held.filter((word) => word !== "--cap-drop" && word !== "ALL")],
  ["a switch", held.filter((word) => word !== "--read-only")],
  ["a switch by its other value", [...held, "--read-only=false"]],
  ["privileges of a new program", held.filter((word) => !/security|privileges/.test(word))],
])("a token does not take %s from a container with a folder of the machine", (_, options) => {
  const wanted = { ...bind, docker_options: options };
  expect(new Set(paths(bind, wanted))).toEqual(new Set(["spec.docker_options"]));
  expect(allowed(operator, { kind: "deployment", stands: bind, wanted })).toEqual([]);
  const job = { stands: { schedule: "@daily", job: bind }, wanted: { schedule: "@daily", job: wanted } };
  expect(allowed(token, { kind: "cronjob", ...job })[0]?.path).toBe("spec.job.docker_options");
});

test("what does not hold it in may go, in any order, and all of it with the folder", () => {
  expect(paths(bind, { ...bind, docker_options: [...held.slice(2, -1), ...held.slice(0, 2)] })).toEqual([]);
  expect(paths(bind, { docker_options: [] })).toEqual([]);
  expect(paths(bind, { docker_options: ["--cap-drop", "ALL"] })).toEqual([]);
});

test("an init has what the container has, or what it had before", () => {
  const init = { name: "a", command: ["id"] };
  const own = { ...init, docker_options: ["--user", "65534"] };
  expect(paths(bind, { ...bind, inits: [init] })).toEqual([]);
  expect(paths(bind, { ...bind, inits: [init, { ...init, name: "b", docker_options: [] }] })).toContain(
    "spec.inits[1].docker_options",
  );
  expect(paths({ ...bind, inits: [own] }, { ...bind, inits: [{ ...own, command: ["env"] }] })).toEqual([]);
  expect(paths({ ...bind, inits: [own] }, { ...bind, inits: [{ ...own, docker_options: [] }] })).toEqual([
    "spec.inits[0].docker_options",
  ]);
});

test("a container with a folder of the machine and without a network gets none", () => {
  const alone = { ...bind, network_mode: "none" };
  expect(paths(alone, { ...alone, env: { A: "1" } })).toEqual([]);
  expect(paths(alone, bind)).toEqual(["spec.network_mode"]);
  expect(paths({ network_mode: "none" }, {})).toEqual([]);
});
