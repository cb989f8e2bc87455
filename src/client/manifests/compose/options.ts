import { isFields } from "../../../base/pure/fields.ts";
import type { EngineOptions } from "../../../orchestration/core/workload.ts";
import { keptReference } from "../kept.ts";
import type { Lose } from "./lose.ts";
import { isScalar, pairsOf, sizeText, textsOf } from "./text.ts";
import { wholeVariable } from "./variables.ts";

interface Options {
  /** The deployment, and the entries of its `docker_options`. */
  spec: Record<string, unknown>;
  options: string[];
  lose: Lose;
}

type Reader = (value: unknown, path: string, service: Options) => void;

/** A key of a service that has a counterpart in a manifest, and in the flags of `docker run`. */
interface Counterpart {
  key: string;
  /** Without its dashes. */
  flag: string;
  /** `switch`: false says the same as no key. `choice`: it does not. `pairs`: each one a flag. `hosts`: names and addresses. */
  form: "text" | "words" | "switch" | "choice" | "size" | "pairs" | "hosts";
  /** What the flag sets, where it goes to `docker_options`. */
  option?: keyof EngineOptions;
  /** The field of a manifest that holds it instead. */
  field?: string;
}

/** What is the same here, in Compose and in `docker run` but for its name: both imports and the export go by it. */
export const counterparts: readonly Counterpart[] = [
  { key: "cap_add", flag: "cap-add", form: "words", field: "cap_add" },
  { key: "extra_hosts", flag: "add-host", form: "hosts", field: "extra_hosts" },
  { key: "stop_signal", flag: "stop-signal", form: "text", field: "stop_signal" },
  { key: "init", flag: "init", form: "choice", option: "init" },
  { key: "privileged", flag: "privileged", form: "switch", option: "privileged" },
  { key: "read_only", flag: "read-only", form: "switch", option: "readonlyRootfs" },
  { key: "user", flag: "user", form: "text", option: "user" },
  { key: "working_dir", flag: "workdir", form: "text", option: "workingDir" },
  { key: "hostname", flag: "hostname", form: "text", option: "hostname" },
  { key: "sysctls", flag: "sysctl", form: "pairs", option: "sysctls" },
  { key: "tmpfs", flag: "tmpfs", form: "words", option: "tmpfs" },
  { key: "cap_drop", flag: "cap-drop", form: "words", option: "capDrop" },
  { key: "dns", flag: "dns", form: "words", option: "dns" },
  { key: "dns_search", flag: "dns-search", form: "words", option: "dnsSearch" },
  { key: "dns_opt", flag: "dns-option", form: "words", option: "dnsOptions" },
  { key: "group_add", flag: "group-add", form: "words", option: "groupAdd" },
  { key: "security_opt", flag: "security-opt", form: "words", option: "securityOpt" },
  { key: "devices", flag: "device", form: "words", option: "devices" },
  { key: "shm_size", flag: "shm-size", form: "size", option: "shmSizeBytes" },
  { key: "mem_reservation", flag: "memory-reservation", form: "size", option: "memoryReservationBytes" },
  { key: "memswap_limit", flag: "memory-swap", form: "size", option: "memorySwapBytes" },
  { key: "pids_limit", flag: "pids-limit", form: "text", option: "pidsLimit" },
  { key: "cpu_shares", flag: "cpu-shares", form: "text", option: "cpuShares" },
  { key: "cpuset", flag: "cpuset-cpus", form: "text", option: "cpusetCpus" },
  { key: "oom_score_adj", flag: "oom-score-adj", form: "text", option: "oomScoreAdj" },
  { key: "ipc", flag: "ipc", form: "text", option: "ipcMode" },
  { key: "pid", flag: "pid", form: "text", option: "pidMode" },
];

const one =
  (flag: string): Reader =>
  (value, path, { options, lose }) => {
    if (!isScalar(value)) lose(path, "is not text: left out");
    // An unset variable is the same as no key.
    else if (value !== "" && wholeVariable(String(value))?.fallback !== "") options.push(`${flag}=${value}`);
  };
const many =
  (flag: string): Reader =>
  (value, path, { options, lose }) => {
    options.push(...textsOf(value, path, lose).map((text) => `${flag}=${text}`));
  };
const on =
  (flag: string): Reader =>
  (value, path, { options, lose }) => {
    const choice = choiceOf(value);
    if (choice === undefined) lose(path, "is neither true nor false: left out");
    else if (choice !== "false") options.push(choice === "true" ? flag : `${flag}=${choice}`);
  };
const bytes =
  (flag: string): Reader =>
  (value, path, { options, lose }) => {
    const size = sizeText(value);
    // These flags have the units of docker: m is 1,048,576 bytes.
    if (size === undefined) lose(path, "is not a size: left out");
    else options.push(`${flag}=${size.replace(/([KMGT])i$/, (_, unit: string) => unit.toLowerCase())}`);
  };

/** True, false, or a variable that holds one of them. */
function choiceOf(value: unknown): string | undefined {
  const text = isScalar(value) ? String(value) : "";
  const variable = wholeVariable(text);
  if (variable?.fallback === "") return keptReference(`${variable.name}:-false`);
  const known = variable === undefined ? text : (variable.fallback ?? "true");
  return known === "true" || known === "false" ? text : undefined;
}

const choice =
  (flag: string): Reader =>
  (value, path, { options, lose }) => {
    // Left out, it would depend on the image here.
    const text = choiceOf(value);
    if (text === undefined) lose(path, "is neither true nor false: left out");
    else options.push(text === "true" ? flag : `${flag}=${text}`);
  };
const pairs =
  (flag: string): Reader =>
  (value, path, { options, lose }) => {
    options.push(...pairsOf(value, path, lose).map(([key, text]) => `${flag}=${key}=${text ?? ""}`));
  };

const asFlag = { text: one, words: many, switch: on, choice, size: bytes, pairs, hosts: many };

/** The value of a field of a manifest. */
function asField(form: Counterpart["form"], value: unknown, path: string, lose: Lose): unknown {
  if (form === "text") return String(value);
  if (form !== "hosts") return textsOf(value, path, lose);
  const hosts = isFields(value) ? pairsOf(value, path, lose) : textsOf(value, path, lose).map(hostPair);
  return hosts.map(([name, address]) => `${name}:${address ?? ""}`);
}

function hostPair(text: string): [string, string] {
  const [, name = text, address = ""] = /^([^:=]+)[:=](.*)$/.exec(text) ?? [];
  return [name, address.replace(/^\[(.*)\]$/, "$1")];
}

/** Readers of the keys that have a counterpart, by key. */
export const optionReaders: Record<string, Reader> = Object.fromEntries(
  counterparts.map(({ key, flag, form, field }) => [
    key,
    field === undefined
      ? asFlag[form](`--${flag}`)
      : (value, path, { spec, lose }) => {
          spec[field] = asField(form, value, path, lose);
        },
  ]),
);
