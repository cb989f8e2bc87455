import { describe, expect, test } from "bun:test";
import { hostCautions, releaseCaution } from "../../../../src/orchestration/core/cautions.ts";

describe("what a manifest gives away of the machine", () => {
  const flags = (...docker_options: string[]) =>
    hostCautions("deployment", { image: "a:1", docker_options }).map((text) => text.split(" ")[1]);

  test.each([
    [["--privileged"], ["--privileged"]],
    [
      ["--pid=host", "--ipc", "host"],
      ["--pid=host", "--ipc=host"],
    ],
    [["--security-opt=seccomp=unconfined"], ["--security-opt"]],
    [["--security-opt", "label=disable"], ["--security-opt"]],
  ])("%p is told", (written, told) => {
    expect(flags(...written)).toEqual(told);
  });

  test.each([
    [["--privileged=false"]],
    [["--ipc=private", "--init", "--security-opt=no-new-privileges"]],
    [["--shm-size=64m"]],
    [[]],
  ])("%p gives nothing away", (written) => {
    expect(flags(...written)).toEqual([]);
  });

  test.each<[object, string[]]>([
    [{ volumes: ["/:/host"] }, ["volumes[0]: / shows the container a part of the machine itself"]],
    [
      { volumes: ["data:/data", "/var/run/docker.sock:/s:ro"] },
      ["volumes[1]: /var/run/docker.sock gives the container root on this machine"],
    ],
    [{ volumes: ["/etc/:/e"] }, ["volumes[0]: /etc/ shows the container a part of the machine itself"]],
    [{ cap_add: ["net_admin", "cap_sys_admin"] }, ["cap_add[1]: cap_sys_admin lets the container out of its walls"]],
    [
      { volumes: ["/srv/app:/etc", "/etc/ssl/certs:/c:ro", "x:/var/run/docker.sock"], cap_add: ["NET_BIND_SERVICE"] },
      [],
    ],
    [{ volumes: "no list", cap_add: 7 }, []],
  ])("%j", (fields, told) => {
    expect(hostCautions("deployment", { image: "a:1", ...fields })).toEqual(told);
    const ofInits = told.filter((text) => text.startsWith("docker_options"));
    expect(hostCautions("deployment", { inits: [fields] })).toEqual(ofInits.map((text) => `inits[0].${text}`));
  });

  test("init containers and jobs of cron jobs count too", () => {
    const options = { docker_options: ["--privileged"] };
    expect(hostCautions("deployment", { inits: [{ name: "a" }, { name: "b", ...options }] })[0]).toStartWith(
      "inits[1].docker_options: --privileged",
    );
    expect(hostCautions("cronjob", { job: options })[0]).toStartWith("docker_options: --privileged");
  });
});

describe("release commands", () => {
  const spec = { image: "a:1", release: { command: ["migrate"] } };

  test.each([
    ["changed alone", spec, { ...spec, release: { command: ["other"] } }, 1],
    ["new, alone", { image: "a:1" }, spec, 1],
    ["removed, alone", spec, { image: "a:1" }, 1],
    ["changed with the count of replicas", spec, { ...spec, replicas: 3, release: { command: ["other"] } }, 1],
    ["changed with the image", spec, { image: "a:2", release: { command: ["other"] } }, 0],
    ["unchanged", spec, { ...spec, replicas: 3 }, 0],
    ["of a new resource", undefined, spec, 0],
  ])("%s", (_, before, after, count) => {
    expect(releaseCaution("deployment", before, after)).toHaveLength(count);
  });
});
