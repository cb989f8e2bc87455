import { expect, test } from "bun:test";
import { startWords } from "../../../../../src/orchestration/engine/docker/start-words.ts";

const task = "failed to create task for container: failed to create shim task: OCI runtime create failed:";
const runc = `${task} runc create failed: unable to start container process:`;

test.each([
  [
    `${runc} error during container init: exec: "nosuchprogram": executable file not found in $PATH: unknown`,
    '"nosuchprogram": executable file not found in $PATH',
  ],
  [`${runc} exec: "/etc/passwd": permission denied: unknown`, '"/etc/passwd": permission denied'],
  [`${runc} exec: "/no": stat /no: no such file or directory: unknown`, '"/no": stat /no: no such file or directory'],
  [
    `${runc} error during container init: error mounting "/x" to rootfs at "/y": not a directory: unknown: Are you trying to mount a directory onto a file?`,
    'error mounting "/x" to rootfs at "/y": not a directory: Are you trying to mount a directory onto a file?',
  ],
  [
    'OCI runtime exec failed: exec failed: unable to start container process: exec: "bash": executable file not found in $PATH: unknown',
    '"bash": executable file not found in $PATH',
  ],
  [
    'OCI runtime create failed: container_linux.go:380: starting container process caused: exec: "x": is a directory: unknown',
    '"x": is a directory',
  ],
  [
    `${task} crun: executable file \`x\` not found in $PATH: No such file or directory: unknown`,
    "executable file `x` not found in $PATH: No such file or directory",
  ],
  [
    "unable to find user nosuch: no matching entries in passwd file",
    "unable to find user nosuch: no matching entries in passwd file",
  ],
  ["network berth0 not found: unknown", "network berth0 not found: unknown"],
  ["", ""],
])("%s", (words, useful) => {
  expect(startWords(words)).toBe(useful);
});
