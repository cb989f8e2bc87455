import { describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import { engineFailure, portIn, unlessStatus } from "../../../../../src/orchestration/engine/docker/errors.ts";

/** As docker-modem makes them. */
const answered = (statusCode: number, message: string) =>
  Object.assign(new Error(`(HTTP code ${statusCode}) unexpected - ${message} `), { statusCode, json: { message } });
const network = (code: string) => Object.assign(new Error(`connect ${code} /run/docker.sock`), { code });
const failed = (error: unknown, verb = "start") => {
  const failure = engineFailure(error, { verb, subject: 'container "web.1"' });
  if (!(failure instanceof Failure)) throw new Error(`not a failure: ${failure}`);
  return failure;
};

const allocated =
  "driver failed programming external connectivity on endpoint web.1 (ab12): Bind for 0.0.0.0:8080 failed: port is already allocated";
const inUse =
  "driver failed programming external connectivity on endpoint web.1 (ab12): Error starting userland proxy: listen tcp4 127.0.0.1:5432: bind: address already in use";
const inUseNew =
  "failed to set up container networking: driver failed programming external connectivity on endpoint web.1 (ab12): failed to bind host port for 0.0.0.0:443:172.17.0.2:443/tcp: address already in use";

describe("engineFailure", () => {
  test.each([
    ["start", 500, allocated, "conflict", "PortTaken"],
    ["start", 500, inUse, "conflict", "PortTaken"],
    ["start", 500, inUseNew, "conflict", "PortTaken"],
    [
      "create",
      409,
      'Conflict. The container name "/web.1" is already in use by container "ab".',
      "conflict",
      "NameTaken",
    ],
    [
      "rename",
      409,
      'Error when allocating new name: Conflict. The container name "/x" is already in use by container "ab".',
      "conflict",
      "NameTaken",
    ],
    [
      "create",
      400,
      'invalid mount config for type "bind": bind source path does not exist: /x',
      "conflict",
      "MountMissing",
    ],
    ["create", 404, "No such image: nginx:1", "conflict", "ImageMissing"],
    ["create", 500, "write /var/lib/docker/x: no space left on device", "conflict", "DiskLow"],
    ["create", 400, "invalid reference format", "conflict", "StartFailed"],
    ["start", 404, "network berth0 not found", "conflict", "StartFailed"],
    ["start", 500, "task 3fa91c: already exists", "unavailable", "EngineUnavailable"],
    ["start", 400, 'exec: "nope": executable file not found in $PATH', "conflict", "StartFailed"],
    ["start", 404, "No such container: web.1", "not_found", "Other"],
    ["stop", 404, "No such container: web.1", "not_found", "Other"],
    ["inspect", 404, "get x: no such volume", "not_found", "Other"],
    ["remove", 409, "remove x: volume is in use - [ab]", "conflict", "Other"],
    ["pull", 500, "Get http://127.0.0.1:5000/v2/x/manifests/1: no basic auth credentials", "conflict", "RegistryAuth"],
    ["pull", 500, "unauthorized: authentication required", "conflict", "RegistryAuth"],
    [
      "pull",
      404,
      "pull access denied for x, repository does not exist or may require 'docker login'",
      "conflict",
      "RegistryAuth",
    ],
    ["pull", 404, "manifest for x:1 not found: manifest unknown: manifest unknown", "conflict", "ImagePull"],
    ["pull", 500, "Get https://x/v2/: dial tcp: lookup x: no such host", "conflict", "ImagePull"],
    ["list", 503, "shutting down", "unavailable", "EngineUnavailable"],
    [
      "list",
      400,
      "client version 1.51 is too new. Maximum supported API version is 1.41",
      "unavailable",
      "EngineUnavailable",
    ],
    [
      "list",
      400,
      "client version 1.41 is too old. Minimum supported API version is 1.44",
      "unavailable",
      "EngineUnavailable",
    ],
  ] as const)("%s answered %d %p", (verb, status, words, code, reason) => {
    const failure = failed(answered(status, words), verb);
    expect({ code: failure.code, reason: failure.reason }).toEqual({ code, reason });
    expect(failure.message).toContain(words.replace(/\.$/, ""));
    expect(failure.message).toStartWith(`cannot ${verb} container "web.1": `);
  });

  const task = "failed to create shim task: OCI runtime create failed: runc create failed:";
  test.each([
    [`${task} unable to start container process: exec: "nosuch": executable file not found in $PATH: unknown`, true],
    [`${task} unable to start container process: exec: "/etc/passwd": permission denied: unknown`, true],
    [`${task} unable to start container process: exec: "/no": stat /no: no such file or directory: unknown`, true],
    ["unable to find user nosuch: no matching entries in passwd file", true],
    [`${task} unable to start container process: error mounting "/x" to rootfs: not a directory: unknown`, false],
    ["network berth0 not found", false],
  ])("another try of a start mends it or not: %s", (words, lasting) => {
    const failure = failed(answered(400, words), "start");
    expect([failure.reason, failure.lasting]).toEqual(["StartFailed", lasting]);
    expect(failure.message).not.toContain("OCI runtime");
  });

  test.each(["ECONNREFUSED", "ENOENT", "EPIPE", "ECONNRESET", "EACCES", "ENOTFOUND", "ABORT_ERR"])(
    "%s is no engine",
    (code) => {
      const failure = failed(network(code));
      expect({ code: failure.code, reason: failure.reason }).toEqual({
        code: "unavailable",
        reason: "EngineUnavailable",
      });
      expect(failure.message).toContain(code);
    },
  );

  test("a container that an engine was killed over can only be made anew", () => {
    const words = "task 3fa91c: already exists";
    expect(failed(answered(500, words), "start").anew).toBe(true);
    expect(failed(answered(500, words), "remove").anew).toBe(false);
    expect(failed(answered(500, "network x already exists"), "start").anew).toBe(false);
  });

  test("a failure passes, a bug of ours is not dressed up as one", () => {
    const failure = new Failure("timeout", "late");
    const bug = new TypeError("x is undefined");
    const attempt = { verb: "start", subject: "x" };
    expect(engineFailure(failure, attempt)).toBe(failure);
    expect(engineFailure(bug, attempt)).toBe(bug);
  });

  test("the message is one line without a final stop, and keeps the cause", () => {
    const cause = answered(500, "first\n  second.\n");
    const failure = failed(cause);
    expect(failure.message).toBe('cannot start container "web.1": first second');
    expect(failure.cause).toBe(cause);
  });

  test("an answer without words of the engine's form is told as it came", () => {
    const strange = Object.assign(new Error("(HTTP code 500) server error - <html>"), {
      statusCode: 500,
      json: "<html>",
    });
    expect(failed(strange).message).toContain("<html>");
  });
});

test("portIn reads the host port", () => {
  expect(portIn(allocated)).toBe(8080);
  expect(portIn(inUse)).toBe(5432);
  expect(portIn(inUseNew)).toBe(443);
  expect(portIn("Bind for [::]:9000 failed: port is already allocated")).toBe(9000);
  expect(portIn("Bind for :::9001 failed: port is already allocated")).toBe(9001);
  expect(portIn("listen udp 0.0.0.0:53: bind: address already in use")).toBe(53);
  expect(portIn("something else 127.0.0.1:80")).toBeUndefined();
});

test("unlessStatus lets the named answers pass as nothing", () => {
  const missing = answered(404, "x");
  expect(unlessStatus(404)(missing)).toBeUndefined();
  expect(() => unlessStatus(409)(missing)).toThrow(missing);
  expect(() => unlessStatus(404)(network("ENOENT"))).toThrow("ENOENT");
});
